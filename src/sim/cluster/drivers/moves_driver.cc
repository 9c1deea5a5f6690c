#include "sim/cluster/drivers/moves_driver.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cluster/node_selection.h"
#include "engine/gangs/preempting_gangs.h"
#include "engine/reservations/passing_check.h"
#include "engine/sharing/move_records.h"

namespace synergy {
namespace {

// The same intervals as in the controller.
constexpr Duration kStep = std::chrono::seconds(1);
constexpr Duration kLook = std::chrono::seconds(5);
constexpr Duration kRest = std::chrono::minutes(10);
constexpr Duration kKeep = std::chrono::seconds(60);
constexpr Duration kGuides = std::chrono::minutes(70);

bool HasKeptPlace(const Pod& pod, WallTime now) {
  return !pod.waiting->kept_node.empty() && pod.waiting->kept_until > now;
}

std::string IdentityOf(const JobInLine& waiter) {
  return fmt::format("{} {}", waiter.name, waiter.pods.front()->uid);
}

}  // namespace

MovesDriver::MovesDriver(const SimulatedMoves& options, Sources sources, const ClusterState& state,
                         SimulatedPods& pods, Faults& faults)
    : options_(options),
      sources_(std::move(sources)),
      state_(state),
      pods_(pods),
      faults_(faults) {}

void MovesDriver::Look(Instant now) {
  if (attempt_ || Guides(now)) wake_ = std::min(wake_, std::max(now, *stepped_ + kStep));
  if (attempt_ || state_.Snapshot()->waiting_gpu_pods() == 0) return;
  const Instant next = looked_ ? std::max(now, *looked_ + kLook) : now;
  if (pods_.writes() != looked_writes_) wake_ = std::min(wake_, next);
  if (next_in_line_ != Instant::max()) wake_ = std::min(wake_, std::max(next, next_in_line_));
}

void MovesDriver::Run(Moment at) {
  wake_ = Instant::max();
  stepped_ = at.now;
  if (attempt_) Advance(at);
  if (Guides(at.now)) Guide(at);
  if (looked_ && at.now - *looked_ < kLook) return;
  looked_ = at.now;
  looked_writes_ = pods_.writes();
  Plan(at);
}

void MovesDriver::Plan(Moment at) {
  next_in_line_ = Instant::max();
  std::erase_if(rests_, [&](const auto& entry) { return entry.second <= at.now; });
  MovesView view;
  view.snapshot = state_.Snapshot();
  view.wall = at.wall;
  const std::vector<RunningJob> running = RunningJobs(*view.snapshot);
  Basis basis{.version = view.snapshot->version(), .waiters = {}};
  bool awaits_end = false;  // a job is about to train, so that its end becomes known
  for (const RunningJob& job : running) {
    const std::string& uid = job.pods.front()->uid;
    const auto left = sources_.remaining_of(uid);
    if (!left) {
      awaits_end = awaits_end || sources_.training_of(uid).has_value();
      continue;
    }
    times_.EstimateMade(job.name, {}, *left, at.now);
    ++basis.known_ends;
  }
  Compare(running);
  if (attempt_) return;
  view.waiters = Waiters(*view.snapshot, at);
  if (view.waiters.empty()) return;
  // When a job begins to train, its end becomes known without a write.
  if (awaits_end) wake_ = at.now + kLook;
  for (const JobInLine& waiter : view.waiters) basis.waiters.push_back(IdentityOf(waiter));
  basis.rests = rests_.size();
  basis.worse = moves_.worse().size();
  if (basis_ == basis) return;
  const auto selection = std::make_shared<const NodeSelection>();
  for (const RunningJob& job : running) {
    const std::string& uid = job.pods.front()->uid;
    if (const auto left = sources_.remaining_of(uid)) {
      if (const auto end = times_.EndOf({}, *left, at.now))
        view.ends.push_back({job.pods, std::max(end->likely - at.now, Duration::zero())});
    }
    const auto training = sources_.training_of(uid);
    if (!training || rests_.contains(job.name)) continue;
    view.jobs.push_back({.name = job.name,
                         .workload = training->workload,
                         .pods = job.pods,
                         .selection = selection,
                         .checkpoints = true,
                         .restart = sources_.restart_cost});
  }
  view.reservations = sources_.reservations();
  view.admits = sources_.admits;
  if (const auto plan = PlanMove(moves_, view)) {
    basis_.reset();
    Begin(*plan, at);
  } else {
    basis_ = std::move(basis);
  }
}

std::vector<JobInLine> MovesDriver::Waiters(const ClusterSnapshot& snapshot, Moment at) {
  const auto waiting = state_.WaitingPods();
  for (const auto& pod : waiting) {
    const Duration more = pod->waiting->since + options_.after - at.wall;
    if (pod->waiting->unschedulable && more > Duration::zero())
      next_in_line_ = std::min(next_in_line_, at.now + more);
  }
  for (const auto& [job, until] : rests_) next_in_line_ = std::min(next_in_line_, until);
  ReservationSettings in_line;
  in_line.after = options_.after;
  std::vector<JobInLine> waiters =
      JobsInLine(snapshot, waiting, sources_.scheduler_name, in_line, {}, at);
  std::erase_if(waiters, [&](const JobInLine& job) {
    return rests_.contains(job.name) || job.pods.size() > MoveRecord::kMostPods ||
           helped_.contains(IdentityOf(job)) ||
           std::any_of(job.pods.begin(), job.pods.end(),
                       [&](const auto& pod) { return HasKeptPlace(*pod, at.wall); });
  });
  return waiters;
}

void MovesDriver::Begin(const PlannedMove& plan, Moment at) {
  const auto drop = [&](const std::string& resting) {
    EndPlaces(plan.places);
    moves_.OnResult(plan.job.name, false);
    rests_[resting] = at.now + kRest;
  };
  if (!KeepPlaces(plan.places, at.wall)) return drop(plan.waiter.name);
  if (faults_.CallFails()) return drop(plan.job.name);  // the dry run
  helped_.insert(IdentityOf(plan.waiter));
  Moved moved{.workload = plan.job.workload,
              .kind = plan.kind,
              .pods = {},
              .nodes = {},
              .evicted = at.now,
              .rate = sources_.training_of(plan.job.pods.front()->uid)->rate,
              .guided = {}};
  for (const PlannedPlace& place : plan.to) {
    moved.pods.insert(place.pod->uid);
    moved.nodes.push_back(place.node);
    moved.gpus += place.pod->requests.main.gpus;
  }
  moved_.emplace(plan.job.name, std::move(moved));
  attempt_ = {plan.job.name, plan.places, at.now, at.now};
  sources_.evict(plan.job.pods);
}

void MovesDriver::Advance(Moment at) {
  size_t bound = 0;
  for (const PlannedPlace& place : attempt_->places) {
    const auto pod = state_.FindPod(place.pod->uid);
    if (!pod) return Finish(false);
    if (!pod->waiting) ++bound;
  }
  if (bound == attempt_->places.size()) return Finish(true);
  if (at.now - attempt_->began >= 2 * kKeep) return Finish(false);
  if (at.now - attempt_->renewed < kKeep / 2) return;
  attempt_->renewed = at.now;
  KeepPlaces(attempt_->places, at.wall);
}

void MovesDriver::Finish(bool used) {
  const Attempt attempt = *std::exchange(attempt_, std::nullopt);
  EndPlaces(attempt.places);
  moves_.OnResult(attempt.job, true);
  if (!used) ++in_vain_;
}

bool MovesDriver::Guides(Instant now) const {
  return std::any_of(moved_.begin(), moved_.end(), [&](const auto& entry) {
    const Moved& moved = entry.second;
    return !moved.trains && moved.guided.size() < moved.nodes.size() &&
           now - moved.evicted < kGuides;
  });
}

void MovesDriver::Guide(Moment at) {
  const auto snapshot = state_.Snapshot();
  std::map<std::string, std::vector<std::shared_ptr<const Pod>>> by_job;
  for (RunningJob& job : RunningJobs(*snapshot)) by_job[job.name] = std::move(job.pods);
  for (const auto& pod : state_.WaitingPods()) by_job[JobOf(*pod)].push_back(pod);
  for (auto& [job, moved] : moved_) {
    if (moved.trains || at.now - moved.evicted >= kGuides) continue;
    std::vector<std::string> nodes = moved.nodes;
    std::vector<std::shared_ptr<const Pod>> next;
    for (const auto& pod : by_job[job]) {
      if (moved.pods.contains(pod->uid)) continue;
      const auto taken =
          std::find(nodes.begin(), nodes.end(), pod->waiting ? pod->waiting->kept_node : pod->node);
      if (taken != nodes.end()) nodes.erase(taken);
      if (pod->waiting && pod->waiting->kept_node.empty() && !moved.guided.contains(pod->uid))
        next.push_back(pod);
    }
    for (const auto& pod : next) {
      if (nodes.empty()) break;
      const PlannedPlace place{pod, nodes.back()};
      nodes.pop_back();
      moved.guided.insert(pod->uid);
      if (FitBeside(*snapshot, {place}, {}, moved.pods, at.wall)) KeepPlaces({place}, at.wall);
    }
  }
}

void MovesDriver::Compare(const std::vector<RunningJob>& running) {
  for (const RunningJob& job : running) {
    const auto found = moved_.find(job.name);
    if (found == moved_.end()) continue;
    Moved& moved = found->second;
    if (!moved.trains || moved.compared || !moved.rate) continue;
    const auto training = sources_.training_of(job.pods.front()->uid);
    if (!training || !training->rate) continue;
    moved.compared = true;
    const auto snapshot = state_.Snapshot();
    const auto node = snapshot->Find(job.pods.front()->node);
    moves_.OnCompared(moved.workload, node ? KindOf(snapshot->node(*node)) : moved.kind,
                      *training->rate / *moved.rate);
  }
}

bool MovesDriver::KeepPlaces(const std::vector<PlannedPlace>& places, WallTime now) {
  for (const auto& [pod, node] : places) {
    if (faults_.CallFails()) return false;
    const bool kept = pods_.Write(pod->uid, [&](SimulatedPod& waiting) {
      if (!waiting.waits()) return;
      waiting.waiting.kept_node = node;
      waiting.waiting.kept_until = now + kKeep;
    });
    if (!kept) return false;
  }
  return true;
}

void MovesDriver::EndPlaces(const std::vector<PlannedPlace>& places) {
  for (const auto& [pod, node] : places) {
    const SimulatedPod* const seen = pods_.Find(pod->uid);
    if (seen == nullptr || !seen->waits() || seen->waiting.kept_node != node) continue;
    pods_.Write(pod->uid, [](SimulatedPod& waiting) {
      waiting.waiting.kept_node.clear();
      waiting.waiting.kept_until = {};
    });
  }
}

std::string MovesDriver::NameOf(const std::string& uid) const {
  const auto pod = state_.FindPod(uid);
  return pod ? JobOf(*pod) : std::string();
}

void MovesDriver::Trains(const std::string& uid, Instant from) {
  const auto found = moved_.find(NameOf(uid));
  if (found == moved_.end() || found->second.trains) return;
  found->second.trains = true;
  gpu_seconds_lost_ += Seconds(from - found->second.evicted).count() *
                       static_cast<double>(found->second.gpus.count());
}

void MovesDriver::Finished(const std::string& uid, Instant now) { times_.Ended(NameOf(uid), now); }

void MovesDriver::Forget(const std::string& uid) { times_.Forget(NameOf(uid)); }

std::optional<Gpus> MovesDriver::KeptOn(const std::string& node) const {
  if (!attempt_) return std::nullopt;
  for (const PlannedPlace& place : attempt_->places) {
    if (place.node == node) return place.pod->requests.main.gpus;
  }
  return std::nullopt;
}

MoveFigures MovesDriver::Figures() const {
  return {.moves = moves_.moves() + (attempt_ ? 1 : 0),
          .in_vain = in_vain_,
          .gpu_time_lost = Seconds(gpu_seconds_lost_)};
}

}  // namespace synergy
