#pragma once

// Plans moves (moves.h) from the state of the cluster: the running job to move, and its new nodes.
// A move makes room for a job that has waited long for GPUs.
//
// The waiting job (the waiter) and the moving job get places by kube-scheduler's rules: resources,
// node selectors, taints and separation of gang members. Places also respect room that is kept or
// reserved for others. Further conditions:
//
//   the waiter   fits nowhere now, nor once pods that are ending are gone, and would if only its
//                GPUs counted no more
//   the job      all its pods run, have equally many whole GPUs, and belong to one owner; Synergy
//                manages them and Kueue does not; their priority is at most the waiter's; no
//                disruption budget protects them
//
// The CPU and memory that the moving job's new pods will get are not known yet. Each new pod counts
// with the amounts of the old pod, and at least with its demand.
//
// Threading: pure. Cost: examines up to kMostWaiters waiters, and up to GpuMoves::kMostAsked jobs
// for each.

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

// A running job whose owner allows moves.
struct MovingJob {
  std::string name;      // its owner's UID: unique, and never reused
  std::string workload;  // with the namespace; empty: unknown
  std::vector<std::shared_ptr<const Pod>> pods;
  std::shared_ptr<const NodeSelection> selection;  // of all its pods
  bool checkpoints = false;
  std::optional<Duration> restart;  // the duration of a restart; absent: unknown
};

// A running job with a known end.
struct EndingJob {
  std::vector<std::shared_ptr<const Pod>> pods;
  Duration left{};
};

struct MovesView {
  static constexpr size_t kMostWaiters = 32;  // the first ones, which a plan examines

  std::shared_ptr<const ClusterSnapshot> snapshot;
  std::vector<JobInLine> waiters;  // in the order in which moves are made for them
  std::vector<MovingJob> jobs;
  std::vector<EndingJob> ends;
  std::vector<GpuReservation> reservations;  // in force
  ResourceVector headroom;
  WallTime wall{};
  // An additional rule of the scheduler: whether the pod may run on a node in that state. Null if
  // there is none.
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

// Returns the kind of the node, by which moves compare placements: GPU product and number of GPUs.
std::string KindOf(const NodeState& node);

}  // namespace synergy
