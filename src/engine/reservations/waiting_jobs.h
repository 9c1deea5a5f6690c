#pragma once

// The cluster as PlanReservations() needs it: which jobs wait for GPUs, which run on which nodes,
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
#include "engine/reservations/gpu_reservations.h"

namespace synergy {

// Whether two waiting pods have the same conditions on nodes.
bool SelectsAlike(const Pod& a, const Pod& b);

// A job without its GPUs.
struct JobInLine {
  std::string name;  // JobOf()
  int32_t priority = 0;
  Instant since{};                               // when the last of its pods began to wait
  std::vector<std::shared_ptr<const Pod>> pods;  // by name
};

// Bounds the jobs that a plan looks at, each with its own conditions on nodes.
inline constexpr size_t kMostJobsInLine = 128;

// Returns the jobs that may get a reservation by these settings, by priority, then by waiting time:
// those that kube-scheduler has found unschedulable, and those of `before`, which it may find
// faulty meanwhile. Leaves out those that Kueue admits, gangs that are not whole, and gangs whose
// pods ask for different nodes. `waiting`: as from ClusterState::WaitingPods().
std::vector<JobInLine> JobsInLine(const ClusterSnapshot& snapshot,
                                  const std::vector<std::shared_ptr<const Pod>>& waiting,
                                  const std::string& scheduler_name,
                                  const ReservationSettings& settings,
                                  std::span<const GpuReservation> before, Moment at);

// GPU pods on nodes, by job.
struct RunningJob {
  std::string name;  // JobOf()
  std::vector<std::shared_ptr<const Pod>> pods;
};
std::vector<RunningJob> RunningJobs(const ClusterSnapshot& snapshot);

// `end_of` returns when a running job ends; none: unknown. Every GPU product has these settings.
GpuCluster ToGpuCluster(
    const ClusterSnapshot& snapshot, const std::vector<JobInLine>& in_line,
    const std::vector<RunningJob>& running, const ReservationSettings& settings,
    const std::function<std::optional<TimeRange>(const RunningJob& job)>& end_of);

}  // namespace synergy
