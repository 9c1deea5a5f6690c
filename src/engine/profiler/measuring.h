#pragma once

// Turns windows of a workload's pods into points (engine/profiler/profiler.h).
//
// Threading: pure.

#include <optional>
#include <span>
#include <vector>

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_pass.h"
#include "profile/measured/rate_window.h"

namespace synergy {

// A pod of a gang uses more CPU than another one only if its use exceeds the other's by this
// factor.
inline constexpr double kUsesMore = 1.1;
// A quota limits a pod if it stops the pod's threads for more than this fraction of a window.
inline constexpr double kThrottled = 0.05;

// Returns whether CPU limits a training that could have `amount`, through a quota or otherwise.
bool IsBound(const WindowReading& reading, MilliCpu amount, bool by_quota);
// Returns the CPU that the pod may use: its limit, or its request if it has no limit.
MilliCpu AmountOf(const Pod& pod);
// As above, but during a burst returns the burst's limit.
MilliCpu AmountOf(const WatchedPod& pod);

// Returns the most CPU that the pod could get on a node whose other GPUs are in use.
MilliCpu MostOf(const NodeState& node, const Pod& pod);

// Returns a window without a probe as a point; nullopt if its CPU time is unknown.
std::optional<CurvePoint> PointOf(const WatchedPod& pod, const WindowReading& reading);
// Returns one point for all pods that train together. `windows`: in the order of the pods.
// REQUIRES: all cover the same time.
//
// If CPU limits any of the pods, the limited pod with the least CPU determines the point. Otherwise
// the point is at the least CPU that any of them could have, but not below the largest CPU use.
std::optional<CurvePoint> PointOf(const ProfilerMemory& memory, const WatchedPod& head,
                                  std::span<const WindowReading> windows);
// Returns the same window of the head and of the pods that train with it.
std::vector<WindowReading> ReadWindows(const std::vector<ProgressSample>& samples,
                                       const WindowRules& rules);

// Records the cost of an iteration, from a settled window with or without a probe.
void NoteCost(Measurement& measurement, const CurvePoint& point);

// Adds the point to the measurement's points, which describe the pods with the most data workers.
void Add(Measurement& measurement, const CurvePoint& point, double agreement);

// Checks whether the speed of a pod that is not measured closely is off the curve.
void CheckSpeed(const ProfilerSettings& settings, const ProfilerMemory& memory,
                const Measurement& measurement, WatchedPod& pod, Moment at);

// Processes the windows of the pods that are measured.
void Measure(ProfilerPass& pass, Measurement& measurement);

}  // namespace synergy
