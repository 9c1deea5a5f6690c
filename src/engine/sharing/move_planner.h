#pragma once

// Plans moves (moves.h) from the state of the cluster: which running job goes to which nodes, so
// that a job which has waited long for GPUs gets room.
//
// Both the waiter and the moving job have places by kube-scheduler's rules: resources, selectors,
// taints, rules of gangs that keep members apart, nodes that accept pods, room that is kept or
// reserved for others. Further conditions:
//
//   the waiter   fits nowhere now, nor once pods that are ending are gone, and would if only its
//                GPUs counted no more
//   the job      all its pods run, have equally many whole GPUs, and belong to one owner; Synergy
//                manages them and Kueue does not; their priority is at most the waiter's; no
//                disruption budget protects them
//
// What the moving job's new pods get of CPU and memory is not known yet. They count with what they
// have, and at least with their demand.
//
// Threading: pure. Work: kMostWaiters waiters, and GpuMoves::kMostAsked jobs for each.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/node_selection.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "core/resources.h"
#include "engine/gangs/preempting_gangs.h"
#include "engine/reservations/gpu_reservations.h"
#include "engine/reservations/waiting_jobs.h"
#include "engine/sharing/moves.h"

namespace synergy {

// A running job whose owner allows that it moves.
struct MovingJob {
  std::string name;      // unique, and never used again: its owner's UID
  std::string workload;  // with the namespace; empty: unknown
  std::vector<std::shared_ptr<const Pod>> pods;
  std::shared_ptr<const NodeSelection> selection;  // of all its pods
  bool checkpoints = false;
  std::optional<Duration> restart;  // what a restart costs; absent: unknown
};

// A running job with a known end.
struct EndingJob {
  std::vector<std::shared_ptr<const Pod>> pods;
  Duration left{};
};

struct MovesView {
  static constexpr size_t kMostWaiters = 32;  // the first ones

  std::shared_ptr<const ClusterSnapshot> snapshot;
  std::vector<JobInLine> waiters;  // in the order in which moves are made for them
  std::vector<MovingJob> jobs;
  std::vector<EndingJob> ends;
  std::vector<GpuReservation> reservations;  // in force
  ResourceVector headroom;
  WallTime wall{};
  // A further rule of the scheduler: whether the pod may go to a node in that state. Null: there is
  // none.
  std::function<bool(const Pod& pod, const NodeState& node)> admits;
};

struct PlannedMove {
  MovingJob job;
  std::vector<PlannedPlace> to;  // of each pod of the job
  JobInLine waiter;
  std::vector<PlannedPlace> places;  // of each pod of the waiter
  Duration waits{};                  // how long the waiter would wait without the move
  std::string kind;                  // of the nodes to which the job goes
};

// Returns the move to begin now; nullopt if there is none, or one is in progress.
std::optional<PlannedMove> PlanMove(GpuMoves& moves, const MovesView& view);

// Returns the kind of the node, as moves compare placements: its product and number of GPUs.
std::string KindOf(const NodeState& node);

}  // namespace synergy
