#include "sim/cluster/simulated_scheduler.h"

#include <memory>
#include <string>

#include "allocation/bind_allocation.h"
#include "cluster/fit.h"
#include "cluster/node_selection.h"

namespace synergy {
namespace {

// As the extender's configuration has it.
constexpr Duration kAssumeTimeout = std::chrono::seconds(30);

bool Selects(const Pod& pod, const NodeDetail& node) {
  return !pod.waiting || !pod.waiting->selection ||
         MayGoTo(*pod.waiting->selection, node.name, node.labels, node.taints);
}

// Whether some node has room by what kube-scheduler counts, so that it asks the extender.
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

void SimulatedScheduler::PodWritten(const SimulatedPod& pod, const SimulatedPods& all) {
  // Whom NodeResourcesFit has rejected, its annotations do not bring back.
  if (!pod.waits() || !FitsByRequestsAlone(pod.AsCounted(), *state_.Snapshot(), all)) return;
  queue_.Wake(pod.uid());
}

void SimulatedScheduler::RoomMade(const SimulatedPod& /*pod*/) { queue_.WakeAll(); }

std::optional<SimulatedScheduler::Attempt> SimulatedScheduler::Try(const SimulatedPods& pods,
                                                                   Instant now) {
  const std::optional<SchedulingQueue::Candidate> candidate = queue_.Next(now);
  if (!candidate) return std::nullopt;
  const Pod pod = pods.Find(candidate->uid)->AsCounted();
  const auto snapshot = state_.Snapshot();
  const Choice choice = Choose(pod, *snapshot, candidate->kind->looked_at);
  Attempt attempt{.uid = candidate->uid, .planned = {}, .known = !choice.looked};
  if (choice.node) attempt.planned = Assume(pod, *snapshot, *choice.node, now);
  if (attempt.planned) {
    queue_.Remove(attempt.uid);
    return attempt;
  }
  if (choice.looked) candidate->kind->looked_at = snapshot->version();
  queue_.Failed(*candidate, now);
  return attempt;
}

SimulatedScheduler::Choice SimulatedScheduler::Choose(const Pod& pod,
                                                      const ClusterSnapshot& snapshot,
                                                      uint64_t looked_at) const {
  Choice choice;
  FitRank best_rank;
  std::optional<BestFit> best_fit;
  const auto consider = [&](NodeIndex index, const NodeState& node) {
    choice.looked = true;
    if (!CheckFit(pod, node).none() || !Selects(pod, *node.detail)) return;
    if (!best_fit) best_fit.emplace(pod, snapshot, ReserveRule{});
    const FitRank rank = best_fit->Rank(node);
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
      // Its own earlier share must not stand in its way.
      consider(index, WithoutPod(node, pod.uid));
    } else if (node.changed > looked_at) {
      consider(index, node);
    }
  }
  return choice;
}

std::optional<Pod> SimulatedScheduler::Assume(const Pod& pod, const ClusterSnapshot& snapshot,
                                              NodeIndex node, Instant now) {
  const std::string& name = snapshot.node(node).detail->name;
  const Instant deadline = now + kAssumeTimeout;
  Pod planned = PlanAtBind(pod, name, snapshot, ReserveRule{});
  if (!state_.Assume(planned, name, deadline).assumed) {
    planned = pod;
    if (!state_.Assume(planned, name, deadline).assumed) return std::nullopt;
  }
  planned.node = name;
  return planned;
}

}  // namespace synergy
