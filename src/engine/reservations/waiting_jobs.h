#pragma once

// Describes the cluster for PlanReservations(): the jobs that wait for GPUs, the jobs that run,
// their nodes, and their ends.
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

// Returns the least amounts that a waiting pod needs on a node: its requests, less the amounts that
// the tuner may reclaim.
ResourceVector LeastOf(const Pod& pod);
// Returns a running pod's requests without its loans and its surplus, which the tuner may cut now
// (allocation/surplus.h).
ResourceVector LeastOn(const NodeState& node, const std::shared_ptr<const Pod>& pod, WallTime now);

// Returns the total amounts that pods with GPUs may have on the node.
ResourceVector RoomForJobs(const NodeState& node);

// Returns whether two waiting pods have equal conditions on nodes.
bool SelectsAlike(const Pod& a, const Pod& b);

// A job that has no GPUs yet.
struct JobInLine {
  std::string name;  // JobOf()
  int32_t priority = 0;
  Instant since{};  // when its last pod began to wait, less earlier waits of the job
  std::vector<std::shared_ptr<const Pod>> pods;  // by name
  bool expects_nodes = false;                    // an autoscaler makes nodes for it
};

// Bounds the number of jobs that a plan considers, each with its own conditions on nodes.
inline constexpr size_t kMostJobsInLine = 128;

// Returns the jobs that may get a reservation under these settings, by priority, then by waiting
// time. These are the jobs that kube-scheduler found unschedulable, and the jobs of `before`, for
// which kube-scheduler may meanwhile report another problem. Omits jobs that Kueue admits,
// incomplete gangs, and gangs whose pods request different nodes. `waiting`: the pods returned by
// ClusterState::WaitingPods(). `waited_before` returns how long earlier pods of a pod's job have
// waited (waiting_times.h); null: no time.
std::vector<JobInLine> JobsInLine(const ClusterSnapshot& snapshot,
                                  const std::vector<std::shared_ptr<const Pod>>& waiting,
                                  const std::string& scheduler_name,
                                  const ReservationSettings& settings,
                                  std::span<const GpuReservation> before, Moment at,
                                  const std::function<Duration(const Pod&)>& waited_before = {});

// The GPU pods of a job that are on nodes.
struct RunningJob {
  std::string name;  // JobOf()
  std::vector<std::shared_ptr<const Pod>> pods;
};
std::vector<RunningJob> RunningJobs(const ClusterSnapshot& snapshot);

// Returns the cluster as PlanReservations() takes it. `end_of`: returns when a running job ends;
// nullopt if unknown. `settings` apply to every GPU product.
GpuCluster ToGpuCluster(
    const ClusterSnapshot& snapshot, const std::vector<JobInLine>& in_line,
    const std::vector<RunningJob>& running, const ReservationSettings& settings, WallTime now,
    const std::function<std::optional<TimeRange>(const RunningJob& job)>& end_of);

}  // namespace synergy
