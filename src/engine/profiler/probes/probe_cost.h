#pragma once

// Computes the cost of probes: the iterations that pods lose, relative to the fastest speed they
// ever had. ProfilerSettings::most_loss bounds the cost.
//
// Threading: pure.

#include <string_view>

#include "core/clock.h"
#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_pass.h"

namespace synergy {

// Less than the node agent's own bound, which is two minutes from the time at which it sees the
// probe.
inline constexpr Duration kLongestProbe = std::chrono::seconds(110);
// The measurement's note if no further probe is affordable.
inline constexpr std::string_view kTooDearNote = "another probe would cost too much";

// Returns the iterations per second that a pod would do without a probe: `best`, or more if `used`
// cores (RunningProbe) allow more at `least_cost` CPU seconds per iteration.
double AtBest(double best, double used, double least_cost);
// Returns the iterations that a pod lost to `cost`.
double LostTo(const ProbeCost& cost, double least_cost);

// Returns the cost of the running probe up to the last report.
ProbeCost CostSoFar(const RunningProbe& probe, const WatchedPod& pod);
// Returns the cost from the last report until the quota is removed, if the end is requested `later`
// from now. Assumes the lower of the expected and the observed rate.
ProbeCost CostUntilItsEnd(const ProfilerPass& pass, const RunningProbe& probe,
                          const WatchedPod& pod, Duration later = Duration::zero());

// Returns the iterations that probes may still cost: `most_loss` of an hour at the pod's mean
// speed, less the losses so far.
double Budget(const ProfilerPass& pass, const Measurement& measurement, const WatchedPod& pod);
// Grants a new budget if the measurement starts over more than an hour after its first probe.
void CountHours(const ProfilerPass& pass, Measurement& measurement);

}  // namespace synergy
