#include "sim/cluster/simulated_scheduler.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "allocation/asked_nodes.h"
#include "allocation/bind_allocation.h"
#include "cluster/node_selection.h"
#include "cluster/state/fit.h"
#include "core/check.h"

namespace synergy {
namespace {

// The same timeout as in the extender's configuration.
constexpr Duration kAssumeTimeout = std::chrono::seconds(30);
// More GPUs than any node has.
constexpr double kMoreThanANode = 1e6;

bool Selects(const Pod& pod, const NodeDetail& node) {
  return !pod.waiting || !pod.waiting->selection ||
         MayGoTo(*pod.waiting->selection, node.name, node.labels, node.taints);
}

// The nodes that kube-scheduler's own filters and GPU reservations leave for a member of a gang.
class SelectedNodes final : public AskedNodes {
 public:
  // `allows`: whether the pod may go to the node apart from its own rules.
  SelectedNodes(const Pod& pod, const ClusterSnapshot& snapshot,
                const std::function<bool(const NodeState&)>& allows) {
    for (NodeIndex index = 0; index < snapshot.size(); ++index) {
      const NodeState& node = snapshot.node(index);
      if (node.exists && Selects(pod, *node.detail) && allows(node))
        names_.emplace_back(node.detail->name);
    }
  }
  size_t size() const override { return names_.size(); }
  std::string_view Name(size_t i) const override { return names_[i]; }
  std::optional<Node> Sent(size_t /*i*/) const override { return std::nullopt; }

 private:
  std::vector<std::string_view> names_;
};

// Returns the node's score under `order`, which is the fraction of the node that its pods request;
// the lowest is best.
double ScoreOf(const NodeState& node, NodeOrder order) {
  const auto part = [](int64_t amount, int64_t whole) {
    return static_cast<double>(amount) / std::max(static_cast<double>(whole), 1.0);
  };
  const double requested = part(node.requested.cpu.count(), node.allocatable.cpu.count()) +
                           part(node.requested.memory.count(), node.allocatable.memory.count());
  return order == NodeOrder::kLeastAllocated ? requested : -requested;
}

// Returns whether some node has room by kube-scheduler's own count, so that it calls the extender.
bool FitsByRequestsAlone(const Pod& pod, const ClusterSnapshot& snapshot,
                         const SimulatedPods& pods) {
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    NodeState node = snapshot.node(index);
    if (!node.Schedulable()) continue;
    node.requested = pods.CountedOn(node.detail->name);
    if (CheckFit(pod, node).none() && Selects(pod, *node.detail)) return true;
  }
  return false;
}

}  // namespace

SimulatedScheduler::SimulatedScheduler(ClusterState& state, LocalityRules locality,
                                       std::optional<NodeOrder> order, Moment began)
    : state_(state),
      order_(order),
      clock_(began),
      log_(sink_, clock_, LogLevel::kError, LogFormat::kText),
      gangs_(state, ReserveRule{}, {}, GangTimes{}, std::move(locality), clock_, log_) {}

void SimulatedScheduler::Add(const Pod& pod, Instant now) {
  binding_.erase(pod.uid);
  if (pod.IsOfGang()) {
    GangState& gang = waiting_gangs_[pod.gang->name];
    gang.gpus += pod.requests.main.gpus;
    if (!gang.leader.empty()) return;
    gang.leader = pod.uid;
  }
  queue_.Add(pod, now, reservations_ == nullptr ? "" : reservations_->LikenessOf(pod.uid));
}

void SimulatedScheduler::AddReplacement(const Pod& pod, Instant now) {
  Add(pod, now);
  queue_.Wake(waiting_gangs_.at(pod.gang->name).leader);
}

void SimulatedScheduler::BindFailed(const Pod& pod, Instant now) {
  state_.Forget(pod.uid);
  if (other_state_ != nullptr) other_state_->Forget(pod.uid);
  Add(pod, now);
}

void SimulatedScheduler::Avoid(const std::string& uid, std::vector<std::string> nodes,
                               Instant until) {
  avoided_.insert_or_assign(uid, Avoided{std::move(nodes), until});
}

bool SimulatedScheduler::Avoids(const std::string& uid, const std::string& node,
                                Instant now) const {
  const auto avoided = avoided_.find(uid);
  if (avoided == avoided_.end() || avoided->second.until <= now) return false;
  const std::vector<std::string>& nodes = avoided->second.nodes;
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

void SimulatedScheduler::Forget(const Pod& pod) {
  binding_.erase(pod.uid);
  avoided_.erase(pod.uid);
  if (!pod.IsOfGang()) return queue_.Remove(pod.uid);
  const auto gang = waiting_gangs_.find(pod.gang->name);
  if (gang == waiting_gangs_.end()) return;
  queue_.Remove(gang->second.leader);
  waiting_gangs_.erase(gang);
}

void SimulatedScheduler::PodsDeleted(Instant now) {
  clock_.GoOnTo(now);
  gangs_.Look();  // gives up places held for deleted pods
  queue_.WakeAll();
}

bool SimulatedScheduler::HasWork(Instant now) {
  // kube-scheduler retries a gang that waits for a better place without an event, because the gang
  // got an error.
  for (auto& [name, gang] : waiting_gangs_) {
    if (gang.waits_until && *gang.waits_until <= now) queue_.Wake(gang.leader);
  }
  return queue_.Next(now).has_value();
}

std::optional<Instant> SimulatedScheduler::NextWork() const {
  std::optional<Instant> next = queue_.RestEnds();
  for (const auto& [name, gang] : waiting_gangs_) {
    if (gang.waits_until) next = std::min(next.value_or(*gang.waits_until), *gang.waits_until);
  }
  return next;
}

Gpus SimulatedScheduler::kept_waiting() const {
  Gpus gpus;
  for (const auto& [name, gang] : waiting_gangs_) {
    if (gang.waits_until) gpus += gang.gpus;
  }
  return gpus;
}

void SimulatedScheduler::PodWritten(const SimulatedPod& pod, const SimulatedPods& all) {
  if (!pod.waits()) {
    binding_.erase(pod.uid());
    avoided_.erase(pod.uid());
  }
  // New annotations do not bring back a pod that NodeResourcesFit has rejected.
  if (!pod.waits() || !FitsByRequestsAlone(pod.AsCounted(), *state_.Snapshot(), all)) return;
  const auto gang = pod.gang() ? waiting_gangs_.find(pod.gang()->name) : waiting_gangs_.end();
  queue_.Wake(gang == waiting_gangs_.end() ? pod.uid() : gang->second.leader);
}

void SimulatedScheduler::RoomMade(const SimulatedPod& /*pod*/) {
  queue_.WakeAll();
  if (reservations_ == nullptr) return;
  // The refusal of a similar pod without a reservation must not keep pods with reservations from
  // being tried.
  for (const std::string& uid : reservations_->PodsWithReservations()) queue_.Wake(uid);
}

std::optional<SimulatedScheduler::Attempt> SimulatedScheduler::Try(const SimulatedPods& pods,
                                                                   Instant now) {
  const std::optional<SchedulingQueue::Candidate> candidate = queue_.Next(now);
  if (!candidate) return std::nullopt;
  const Pod pod = pods.Find(candidate->uid)->AsCounted();
  if (pod.IsOfGang()) return TryGang(*candidate, pod, pods, now);
  auto snapshot = state_.Snapshot();
  const uint64_t looked_at = IsReserved(pod) ? 0 : candidate->kind->looked_at;
  const auto choose = [&] {
    return pod.UsesGpus() ? Choose(pod, *snapshot, pods, looked_at, now)
                          : ChooseByRequests(pod, *snapshot, pods, looked_at);
  };
  Choice choice = choose();
  if (!choice.node && TakeReservedPlaces(pod, *snapshot)) {
    snapshot = state_.Snapshot();
    choice = choose();
  }
  Attempt attempt{.uids = {candidate->uid}, .planned = {}, .known = !choice.looked};
  std::optional<Pod> planned;
  if (choice.node) planned = Assume(pod, *snapshot, *choice.node, pods, now);
  if (planned) {
    binding_.insert_or_assign(planned->uid, *planned);
    attempt.planned.push_back(*std::move(planned));
    queue_.Remove(candidate->uid);
    return attempt;
  }
  if (choice.looked) candidate->kind->looked_at = snapshot->version();
  if (preemption_ && !choice.node) attempt.evictions = ChooseVictims(pod, *snapshot, pods, now);
  attempt.known &= !attempt.evictions;
  queue_.Failed(*candidate, now);
  return attempt;
}

bool SimulatedScheduler::TakeReservedPlaces(const Pod& pod, const ClusterSnapshot& snapshot) {
  if (!pod.UsesGpus()) return false;
  const std::vector<Reservation> reserved = state_.Reservations(ReservationKind::kReplacement);
  for (NodeIndex index = 0; index < snapshot.size() && !reserved.empty(); ++index) {
    const NodeState& node = snapshot.node(index);
    if (!node.Schedulable() || !Selects(pod, *node.detail)) continue;
    const auto in_the_way = ReservationsInTheWay(pod, WithoutPod(node, pod.uid), reserved);
    if (in_the_way.empty() || !YieldTo(pod, in_the_way)) continue;
    for (const Reservation& place : in_the_way) state_.SettleReplacement(place.pod->uid, false);
    return true;
  }
  return false;
}

std::optional<PodEvictions> SimulatedScheduler::ChooseVictims(const Pod& pod,
                                                              const ClusterSnapshot& snapshot,
                                                              const SimulatedPods& pods,
                                                              Instant now) {
  clock_.GoOnTo(now);
  const auto count_node = [&](const NodeState& node) { return AsCounted(pod, node, pods); };
  const std::optional<PassingTerms> terms = TermsFor(pod, now);
  std::optional<PassingCheck> passing;
  if (terms) passing.emplace(snapshot, pod, *terms);
  const auto may_replace = [&](const NodeState& node) {
    return Selects(pod, *node.detail) && !(passing && passing->RefusedBy(node));
  };
  const auto count_pod = [&](const Pod& other) -> std::optional<ResourceVector> {
    const SimulatedPod* const found = pods.Find(other.uid);
    if (found == nullptr || found->waits()) return std::nullopt;
    return found->CountedByKubeScheduler();
  };
  return preemption_->Choose(pod, snapshot, count_node, may_replace, count_pod, clock_.Present());
}

SimulatedScheduler::Attempt SimulatedScheduler::TryGang(const SchedulingQueue::Candidate& candidate,
                                                        const Pod& leader,
                                                        const SimulatedPods& pods, Instant now) {
  const auto entry = waiting_gangs_.find(leader.gang->name);
  GangState& gang = entry->second;
  clock_.GoOnTo(now);
  const auto snapshot = state_.Snapshot();
  Attempt attempt;
  std::vector<std::shared_ptr<const Pod>> members;
  for (const GangMember& member : state_.GangMembers(leader.gang->name)) {
    if (member.placed || !member.pod->UsesGpus()) continue;
    attempt.uids.push_back(member.pod->uid);
    members.push_back(member.pod);
  }
  const bool wait_is_over = gang.waits_until && *gang.waits_until <= now;
  attempt.known = candidate.kind->looked_at == snapshot->version() && !wait_is_over;
  if (!attempt.known) {
    std::optional<Duration> waits_for;
    std::vector<std::string> nodes;
    const bool avoids = std::any_of(members.begin(), members.end(), [this](const auto& member) {
      return avoided_.contains(member->uid);
    });
    if (avoids) nodes = FilterGang(members, *snapshot, pods, true, now, waits_for);
    if (nodes.empty()) nodes = FilterGang(members, *snapshot, pods, false, now, waits_for);
    gang.waits_until.reset();
    if (waits_for) gang.waits_until = now + *waits_for;
    attempt.planned = AssumeGang(members, nodes, pods, now);
  }
  if (!attempt.planned.empty()) {
    for (const Pod& pod : attempt.planned) binding_.insert_or_assign(pod.uid, pod);
    queue_.Remove(candidate.uid);
    waiting_gangs_.erase(entry);
    return attempt;
  }
  attempt.waits_for_locality = gang.waits_until.has_value();
  candidate.kind->looked_at = snapshot->version();
  queue_.Failed(candidate, now);
  return attempt;
}

bool SimulatedScheduler::IsReserved(const Pod& pod) const {
  return reservations_ != nullptr && reservations_->HasReservation(pod.uid);
}

std::optional<PassingTerms> SimulatedScheduler::TermsFor(const Pod& pod, Instant now) const {
  return reservations_ == nullptr ? std::nullopt : reservations_->TermsFor(pod, now);
}

std::vector<std::string> SimulatedScheduler::FilterGang(
    const std::vector<std::shared_ptr<const Pod>>& members, const ClusterSnapshot& snapshot,
    const SimulatedPods& pods, bool avoid, Instant now, std::optional<Duration>& waits_for) {
  std::vector<std::string> nodes;
  if (members.empty()) return nodes;
  const std::optional<PassingTerms> terms = TermsFor(*members.front(), now);
  OpenGpus open;
  if (terms) {
    for (const auto& [node, part] : PartsOpenTo(snapshot, *members.front(), *terms))
      open.emplace(node, part.gpus);
  }
  for (const auto& member : members) {
    const SelectedNodes nodes_left(*member, snapshot, [&](const NodeState& node) {
      const auto part = open.find(node.detail->name);
      return FitsByRequests(*member, node, pods) &&
             (part == open.end() || part->second >= member->requests.main.gpus) &&
             !(avoid && Avoids(member->uid, node.detail->name, now));
    });
    GangVerdict verdict = gangs_.Place(*member, nodes_left, {}, open);
    waits_for = verdict.waits_for;
    if (verdict.kind != GangVerdict::Kind::kPlaced) return {};
    nodes.push_back(std::move(verdict.text));
  }
  return nodes;
}

std::vector<Pod> SimulatedScheduler::AssumeGang(
    const std::vector<std::shared_ptr<const Pod>>& members, const std::vector<std::string>& nodes,
    const SimulatedPods& pods, Instant now) {
  std::vector<std::shared_ptr<GangBind>> binds;
  for (size_t member = 0; member < nodes.size(); ++member) {
    binds.push_back(gangs_.BeginBind(members[member]->uid, nodes[member]));
  }
  // The last member's bind releases all members, unless a later member's place has moved an earlier
  // member. In that case kube-scheduler tries the gang again.
  std::vector<std::optional<ResourceVector>> amounts;
  for (const auto& bind : binds) {
    const std::optional<GangBindOutcome> outcome = gangs_.OutcomeOf(*bind);
    if (!outcome || !*outcome) return {};
    amounts.push_back(**outcome);
  }
  std::vector<Pod> planned;
  for (size_t member = 0; member < binds.size(); ++member) {
    const std::string& node = nodes[member];
    const auto snapshot = state_.Snapshot();
    Pod pod = PlanAtBind(*members[member], node, *snapshot, ReserveRule{}, amounts[member]);
    if (!FitsByRequests(pod, snapshot->node(*snapshot->Find(node)), pods) ||
        !AssumeAt(pod, node, now)) {
      pod = *members[member];
      const bool assumed = AssumeAt(pod, node, now);
      SYNERGY_CHECK(assumed, "a member of a gang that is let go has room in its place");
    }
    pod.node = node;
    planned.push_back(std::move(pod));
  }
  // Updates the gangs, so that they count this gang as bound.
  gangs_.Look();
  return planned;
}

SimulatedScheduler::Choice SimulatedScheduler::Choose(const Pod& pod,
                                                      const ClusterSnapshot& snapshot,
                                                      const SimulatedPods& pods, uint64_t looked_at,
                                                      Instant now) const {
  Choice choice;
  // Whether the pod avoids the node; then kube-scheduler's score, or the extender's ranks.
  using Rank = std::tuple<bool, double, FitRank>;
  Rank best_rank;
  std::optional<BestFit> best_fit;
  const std::optional<PassingTerms> terms = TermsFor(pod, now);
  std::optional<PassingCheck> passing;
  if (terms) passing.emplace(snapshot, pod, *terms);
  const auto consider = [&](NodeIndex index, const NodeState& node) {
    choice.looked = true;
    if (!CheckFit(pod, node).none() || !Selects(pod, *node.detail)) return;
    if (!node.detail->nominated.empty() &&
        !CheckFit(pod, WithNominated(node, pod.uid, pod.priority)).none())
      return;
    if (passing && passing->RefusedBy(node)) return;
    const std::optional<double> first = rank_node_ ? rank_node_(pod, node.detail->name) : 0;
    if (!first) return;
    if (!best_fit && !order_)
      best_fit.emplace(pod, snapshot, ReserveRule{}, AskOfStorage(pod, storage_));
    const bool avoided = Avoids(pod.uid, node.detail->name, now);
    Rank rank = order_ ? Rank(avoided, ScoreOf(node, *order_), {})
                       : Rank(avoided, *first, best_fit->Rank(node));
    if (!order_ && whole_nodes_ != WholeNodes::kByCost) {
      auto& [avoids, gpus, fit] = rank;
      gpus = static_cast<double>(node.Free().gpus.count());
      if (whole_nodes_ == WholeNodes::kAfterRoom && fit.tier != FitTier::kRoom)
        gpus += kMoreThanANode;
    }
    if (choice.node && best_rank < rank) return;
    if (choice.node && rank == best_rank &&
        snapshot.node(*choice.node).detail->name < node.detail->name) {
      return;
    }
    choice.node = index;
    best_rank = rank;
  };
  const auto hold = state_.FindPlacement(pod.uid);
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    const NodeState& node = snapshot.node(index);
    if (hold && hold->node == index) {
      // The pod's own earlier share must not count against it. A pod without GPUs may have taken
      // that share.
      if (FitsByRequests(pod, node, pods)) consider(index, WithoutPod(node, pod.uid));
    } else if (node.changed > looked_at) {
      consider(index, node);
    }
  }
  return choice;
}

ResourceVector SimulatedScheduler::Counted(const std::string& node,
                                           const SimulatedPods& pods) const {
  ResourceVector counted = pods.CountedOn(node);
  for (const auto& [uid, pod] : binding_) {
    if (pod.node == node) counted += pod.requests.main;
  }
  return counted;
}

NodeState SimulatedScheduler::AsCounted(const Pod& pod, const NodeState& node,
                                        const SimulatedPods& pods) const {
  NodeState counted = node;
  counted.requested = Counted(node.detail->name, pods);
  return WithNominated(counted, pod.uid, pod.priority);
}

bool SimulatedScheduler::FitsByRequests(const Pod& pod, const NodeState& node,
                                        const SimulatedPods& pods) const {
  return CheckFit(pod, AsCounted(pod, node, pods)).none();
}

SimulatedScheduler::Choice SimulatedScheduler::ChooseByRequests(const Pod& pod,
                                                                const ClusterSnapshot& snapshot,
                                                                const SimulatedPods& pods,
                                                                uint64_t looked_at) const {
  Choice choice;
  using Score = std::pair<double, std::string_view>;  // the node's name
  std::optional<Score> best;
  for (NodeIndex index = 0; index < snapshot.size(); ++index) {
    if (snapshot.node(index).changed <= looked_at) continue;
    choice.looked = true;
    if (!snapshot.node(index).Schedulable() || !Selects(pod, *snapshot.node(index).detail))
      continue;
    const NodeState node = AsCounted(pod, snapshot.node(index), pods);
    if (!CheckFit(pod, node).none()) continue;
    const Score score{ScoreOf(node, order_.value_or(NodeOrder::kLeastAllocated)),
                      snapshot.node(index).detail->name};
    if (best && *best < score) continue;
    best = score;
    choice.node = index;
  }
  return choice;
}

bool SimulatedScheduler::AssumeAt(const Pod& pod, const std::string& node, Instant now) {
  const Instant deadline = now + kAssumeTimeout;
  if (!state_.Assume(pod, node, deadline).assumed) return false;
  if (other_state_ != nullptr) other_state_->Assume(pod, node, deadline);
  return true;
}

std::optional<Pod> SimulatedScheduler::Assume(const Pod& pod, const ClusterSnapshot& snapshot,
                                              NodeIndex node, const SimulatedPods& pods,
                                              Instant now) {
  const std::string& name = snapshot.node(node).detail->name;
  Pod planned = PlanAtBind(pod, name, snapshot, ReserveRule{});
  if (!FitsByRequests(planned, snapshot.node(node), pods) || !AssumeAt(planned, name, now)) {
    planned = pod;
    const bool assumed = AssumeAt(planned, name, now);
    // kube-scheduler binds a pod without GPUs regardless of the extender's reservations there.
    if (!assumed && pod.UsesGpus()) return std::nullopt;
  }
  planned.node = name;
  return planned;
}

}  // namespace synergy
