#pragma once

// From windows of a workload's pods to points (engine/profiler/profiler.h).
//
// Threading: pure.

#include <optional>
#include <span>
#include <vector>

#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_turn.h"
#include "profile/measured/rate_window.h"

namespace synergy {

// Of CPU, than another pod of its gang: by less they are alike.
inline constexpr double kUsesMore = 1.1;
// Of a window: threads that a quota stops for longer are kept back by it.
inline constexpr double kThrottled = 0.05;

// Whether the CPU kept a training back that could have `amount`, by a quota or not.
bool IsBound(const WindowReading& reading, MilliCpu amount, bool by_quota);
// What the pod may use: its limit, else what is its own.
MilliCpu AmountOf(const Pod& pod);

// The most that the pod could get of a node whose other GPUs are used.
MilliCpu MostOf(const NodeState& node, const Pod& pod);

// What a window without a probe says, as a point; none where its CPU time is not known.
std::optional<CurvePoint> PointOf(const WatchedPod& pod, const WindowReading& reading);
// Likewise of all pods that train together, in their order: `windows` are of the same time.
//
// Where the CPU keeps any of them back that one sets the pace, the one with least of it. Where none
// is kept back all do with the least that any of them could have, and not with less than any uses.
std::optional<CurvePoint> PointOf(const ProfilerMemory& memory, const WatchedPod& head,
                                  std::span<const WindowReading> windows);
// The same window of the head and of those that train together with it.
std::vector<WindowReading> ReadWindows(const std::vector<ProgressSample>& samples,
                                       const WindowRules& rules);

// What an iteration takes, of a settled window with a probe or without.
void NoteCost(Measurement& measurement, const CurvePoint& point);

// Adds it to what is known of the pods with most workers.
void Add(Measurement& measurement, const CurvePoint& point, double agreement);

// A pod that is only checked: is it off the curve?
void CheckSpeed(const ProfilerSettings& settings, const ProfilerMemory& memory,
                const Measurement& measurement, WatchedPod& pod, Moment at);

// Looks at the windows of the pods that are measured.
void Measure(ProfilerTurn& turn, Measurement& measurement);

}  // namespace synergy
