#pragma once

// Describes the cluster for PlanReservations(): which jobs wait for GPUs, which run on which nodes,
// and when those end.
//
// Threading: pure.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "core/resources.h"
#include "engine/reservations/gpu_reservations.h"

namespace synergy {

// Returns what a waiting pod needs at least on a node: its requests, less what the tuner may take
// of them.
ResourceVector LeastOf(const Pod& pod);
// Returns what remains of a running pod's requests once its loans are returned and the tuner has
// cut all that it may cut now (allocation/surplus.h).
ResourceVector LeastOn(const NodeState& node, const std::shared_ptr<const Pod>& pod, WallTime now);

// Returns what pods with GPUs may have on the node in total.
ResourceVector RoomForJobs(const NodeState& node);

// Returns whether two waiting pods have the same conditions on nodes.
bool SelectsAlike(const Pod& a, const Pod& b);

// A job that has no GPUs yet.
struct JobInLine {
  std::string name;  // JobOf()
  int32_t priority = 0;
  Instant since{};  // when its last pod began to wait, less what the job had waited before
  std::vector<std::shared_ptr<const Pod>> pods;  // by name
  bool expects_nodes = false;                    // an autoscaler makes nodes for it
};

// Bounds the number of jobs that a plan considers, each with its own conditions on nodes.
inline constexpr size_t kMostJobsInLine = 128;

// Returns the jobs that may get a reservation under these settings, by priority, then by waiting
// time. These are the jobs that kube-scheduler found unschedulable, and the jobs of `before`, for
// which kube-scheduler may meanwhile report another problem. Leaves out jobs that Kueue admits,
// incomplete gangs, and gangs whose pods request different nodes. `waiting`: the pods returned by
// ClusterState::WaitingPods(). `waited_before` returns how long earlier pods of a pod's job have
// waited (waiting_times.h); null: no time.
std::vector<JobInLine> JobsInLine(const ClusterSnapshot& snapshot,
                                  const std::vector<std::shared_ptr<const Pod>>& waiting,
                                  const std::string& scheduler_name,
                                  const ReservationSettings& settings,
                                  std::span<const GpuReservation> before, Moment at,
                                  const std::function<Duration(const Pod&)>& waited_before = {});

// GPU pods on nodes, by job.
struct RunningJob {
  std::string name;  // JobOf()
  std::vector<std::shared_ptr<const Pod>> pods;
};
std::vector<RunningJob> RunningJobs(const ClusterSnapshot& snapshot);

// `end_of` returns when a running job ends; absent: unknown. These settings apply to every GPU
// product.
GpuCluster ToGpuCluster(
    const ClusterSnapshot& snapshot, const std::vector<JobInLine>& in_line,
    const std::vector<RunningJob>& running, const ReservationSettings& settings, WallTime now,
    const std::function<std::optional<TimeRange>(const RunningJob& job)>& end_of);

}  // namespace synergy
