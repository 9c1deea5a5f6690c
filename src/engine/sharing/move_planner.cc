#include "engine/sharing/move_planner.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "allocation/gangs/gang_plan.h"
#include "allocation/preemption.h"
#include "allocation/surplus.h"
#include "cluster/state/fit.h"

namespace synergy {
namespace {

using Pods = std::vector<std::shared_ptr<const Pod>>;

Gpus GpusOf(const Pods& pods) {
  Gpus gpus;
  for (const auto& pod : pods) gpus += pod->requests.main.gpus;
  return gpus;
}

bool IsMovable(const MovingJob& job) {
  if (job.pods.empty() || !job.selection) return false;
  const Pod& first = *job.pods.front();
  for (const auto& pod : job.pods) {
    const bool may_move = !pod->waiting && !pod->deleting && !pod->terminal && !pod->devices &&
                          pod->UsesGpus() && pod->slices == Slices(0) && MayBeEvicted(*pod) &&
                          pod->requests.main.gpus == first.requests.main.gpus;
    if (!may_move) return false;
    // If the job is a gang, the owner must own all its members.
    if (!pod->gang) continue;
    if (!pod->IsOfGang() || pod->gang->size != static_cast<int32_t>(job.pods.size()) ||
        !first.gang || first.gang->name != pod->gang->name) {
      return false;
    }
  }
  return true;
}

// Returns the pod's expected successor, as it waits for a node.
std::shared_ptr<const Pod> SuccessorOf(const Pod& pod,
                                       const std::shared_ptr<const NodeSelection>& selection) {
  auto next = std::make_shared<Pod>(pod);
  auto waiting = std::make_shared<Waiting>();
  waiting->selection = selection;
  next->node.clear();
  next->waiting = std::move(waiting);
  next->requests.main = LargerOf(pod.requests.main, pod.PlanningDemand());
  return next;
}

// Returns the pod as if it needed only its GPUs.
std::shared_ptr<const Pod> ForGpusOnly(const Pod& pod) {
  auto light = std::make_shared<Pod>(pod);
  light->requests.main.cpu = MilliCpu(0);
  light->requests.main.memory = Bytes(0);
  light->demand.reset();
  return light;
}

class MoveSearch {
 public:
  explicit MoveSearch(const MovesView& view) : view_(view), snapshot_(*view.snapshot) {
    reserve_.headroom = view.headroom;
    nodes_.reserve(snapshot_.size());
    for (NodeIndex node = 0; node < snapshot_.size(); ++node) {
      const NodeState& state = snapshot_.node(node);
      const bool has_gpus = state.exists && state.allocatable.gpus > Gpus(0);
      if (has_gpus) with_gpus_.push_back(node);
      nodes_.push_back(has_gpus ? Soon(state) : state);
    }
    for (const GpuReservation& reservation : view.reservations) {
      for (const GpuReservation::Place& place : reservation.places)
        reserved_[place.node].insert(reservation.job);
    }
  }

  // Returns whether the waiter fits nowhere, and only for lack of GPUs.
  bool WaitsForGpus(const JobInLine& waiter) const {
    if (!Place(waiter.pods, waiter.name, {}).empty()) return false;
    Pods light;
    for (const auto& pod : waiter.pods) light.push_back(ForGpusOnly(*pod));
    return Place(light, waiter.name, {}).empty();
  }

  // Returns the time until enough jobs with known ends have ended; nullopt if they do not suffice.
  std::optional<Duration> WaitOf(const JobInLine& waiter) const {
    std::vector<const EndingJob*> ends;
    for (const EndingJob& job : view_.ends) ends.push_back(&job);
    std::stable_sort(ends.begin(), ends.end(),
                     [](const EndingJob* a, const EndingJob* b) { return a->left < b->left; });
    const auto fits_after = [&](size_t count) {
      Pods gone;
      for (size_t i = 0; i < count; ++i)
        gone.insert(gone.end(), ends[i]->pods.begin(), ends[i]->pods.end());
      return !Place(waiter.pods, waiter.name, gone).empty();
    };
    if (ends.empty() || !fits_after(ends.size())) return std::nullopt;
    size_t too_few = 0;
    size_t enough = ends.size();
    while (enough - too_few > 1) {
      const size_t middle = too_few + (enough - too_few) / 2;
      (fits_after(middle) ? enough : too_few) = middle;
    }
    return ends[enough - 1]->left;
  }

  struct Arranged {
    std::vector<std::string> to;
    std::vector<PlannedPlace> places;
    std::string kind;
  };
  std::optional<Arranged> Arrange(
      const MovingJob& job, const JobInLine& waiter,
      const std::set<std::pair<std::string, std::string>>& worse) const {
    for (const auto& pod : job.pods) {
      if (pod->priority > waiter.priority) return std::nullopt;
    }
    std::vector<bool> violating;
    if (CountBudgetViolations(snapshot_.disruption_budgets(), job.pods, violating) > 0)
      return std::nullopt;
    const std::vector<NodeIndex> places = Place(waiter.pods, waiter.name, job.pods);
    if (places.empty()) return std::nullopt;
    Changed changed = Without(job.pods);
    for (size_t i = 0; i < places.size(); ++i) {
      auto placed = std::make_shared<Pod>(*waiter.pods[i]);
      placed->node = NameOf(places[i]);
      NodeState& state = changed.try_emplace(places[i], nodes_[places[i]]).first->second;
      state = WithPod(state, std::move(placed));
    }
    Pods successors;
    for (const auto& pod : job.pods) successors.push_back(SuccessorOf(*pod, job.selection));
    const std::vector<NodeIndex> to = PlaceOn(successors, {}, changed, [&](NodeIndex node) {
      return job.workload.empty() || !worse.contains({job.workload, KindOf(snapshot_.node(node))});
    });
    if (to.empty()) return std::nullopt;
    Arranged arranged{.to = {}, .places = {}, .kind = KindOf(snapshot_.node(to.front()))};
    for (const NodeIndex node : to) arranged.to.push_back(NameOf(node));
    for (size_t i = 0; i < places.size(); ++i)
      arranged.places.push_back({waiter.pods[i], NameOf(places[i])});
    return arranged;
  }

 private:
  using Changed = std::map<NodeIndex, NodeState>;

  const std::string& NameOf(NodeIndex node) const { return snapshot_.node(node).detail->name; }

  // Returns the node without pods that are being deleted and without surplus, because that room
  // needs no move.
  NodeState Soon(const NodeState& node) const {
    NodeState state = node;
    for (const auto& pod : node.detail->pods) {
      if (pod->deleting) state = WithoutPod(state, *pod);
    }
    return WithoutSurplus(state, view_.wall);
  }

  Changed Without(const Pods& gone) const {
    Changed changed;
    for (const auto& pod : gone) {
      const auto node = snapshot_.Find(pod->node);
      if (!node) continue;
      NodeState& state = changed.try_emplace(*node, nodes_[*node]).first->second;
      state = WithoutPod(state, pod->uid);
    }
    return changed;
  }

  std::vector<NodeIndex> Place(const Pods& pods, const std::string& job, const Pods& gone) const {
    return PlaceOn(pods, job, Without(gone), [](NodeIndex) { return true; });
  }

  // Returns the nodes of the pods; empty if they do not all fit. `job`: its own reservation does
  // not block it.
  std::vector<NodeIndex> PlaceOn(const Pods& pods, const std::string& job, const Changed& changed,
                                 const std::function<bool(NodeIndex node)>& is_open) const {
    const auto as_if = [&](NodeIndex node) -> const NodeState& {
      const auto found = changed.find(node);
      return found == changed.end() ? nodes_[node] : found->second;
    };
    const auto may_go = [&](size_t member, NodeIndex node) {
      const NodeState& state = snapshot_.node(node);
      const auto reserved = reserved_.find(state.detail->name);
      const bool is_reserved = reserved != reserved_.end() &&
                               (reserved->second.size() > 1 || !reserved->second.contains(job));
      return !is_reserved && is_open(node) && MayGoTo(*pods[member], state) &&
             (!view_.admits || view_.admits(*pods[member], as_if(node)));
    };
    return PlanGangAsIf(snapshot_, pods, reserve_, GangTerms(may_go), with_gpus_, as_if).places;
  }

  const MovesView& view_;
  const ClusterSnapshot& snapshot_;
  ReserveRule reserve_;
  std::vector<NodeIndex> with_gpus_;
  std::vector<NodeState> nodes_;                           // their state soon
  std::map<std::string, std::set<std::string>> reserved_;  // jobs by node
};

}  // namespace

std::string KindOf(const NodeState& node) {
  const std::vector<std::string>& products = node.detail->gpu_kinds.products;
  return fmt::format("{}x{}", products.empty() ? "" : products.front(),
                     node.allocatable.gpus.count());
}

std::optional<PlannedMove> PlanMove(GpuMoves& moves, const MovesView& view) {
  std::map<std::string_view, const MovingJob*> movable;
  std::vector<MovableJob> jobs;
  for (const MovingJob& job : view.jobs) {
    if (!IsMovable(job)) continue;
    movable.emplace(job.name, &job);
    MovableJob& each = jobs.emplace_back();
    each.name = job.name;
    each.gpus = GpusOf(job.pods);
    each.checkpoints = job.checkpoints;
    each.restart = job.restart;
  }
  if (jobs.empty() || view.waiters.empty()) return std::nullopt;
  const MoveSearch search(view);
  std::map<std::string_view, const JobInLine*> in_line;
  std::vector<MoveWaiter> waiters;
  size_t examined = 0;
  for (const JobInLine& job : view.waiters) {
    if (examined++ == MovesView::kMostWaiters) break;
    const Gpus gpus = job.pods.front()->requests.main.gpus;
    const bool is_uniform = std::all_of(job.pods.begin(), job.pods.end(), [&](const auto& pod) {
      return pod->requests.main.gpus == gpus && pod->waiting->nominated_node.empty();
    });
    if (!is_uniform || !search.WaitsForGpus(job)) continue;
    in_line.emplace(job.name, &job);
    waiters.push_back({job.name, GpusOf(job.pods), search.WaitOf(job)});
  }
  std::optional<MoveSearch::Arranged> arranged;
  const auto move = moves.Plan(
      jobs, waiters,
      [&](const MovableJob& job,
          const MoveWaiter& waiter) -> std::optional<std::vector<std::string>> {
        arranged = search.Arrange(*movable.at(job.name), *in_line.at(waiter.name), moves.worse());
        if (!arranged) return std::nullopt;
        return arranged->to;
      });
  if (!move) return std::nullopt;
  PlannedMove planned{.job = *movable.at(move->job),
                      .to = {},
                      .waiter = *in_line.at(move->waiter),
                      .places = std::move(arranged->places),
                      .waits = {},
                      .kind = std::move(arranged->kind)};
  for (size_t i = 0; i < planned.job.pods.size(); ++i)
    planned.to.push_back({planned.job.pods[i], move->to[i]});
  for (const MoveWaiter& waiter : waiters) {
    if (waiter.name == move->waiter) planned.waits = *waiter.waits;
  }
  return planned;
}

}  // namespace synergy
