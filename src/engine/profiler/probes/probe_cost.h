#pragma once

// Computes the cost of probes: the iterations that a pod would have done without them, at the
// fastest speed it ever had. ProfilerSettings::most_loss bounds it.
//
// Threading: pure.

#include <string_view>

#include "core/clock.h"
#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_pass.h"

namespace synergy {

// The agent's own bound is two minutes, starting when it sees the probe.
inline constexpr Duration kLongestProbe = std::chrono::seconds(110);
// The measurement's note if no further probe is affordable.
inline constexpr std::string_view kTooDearNote = "another probe would cost too much";

// Returns the iterations per second that a pod would do without a probe: `best`, or more if it used
// `used` cores (RunningProbe) and an iteration costs `least_cost` CPU seconds.
double AtBest(double best, double used, double least_cost);
// Returns the lost iterations.
double LostTo(const ProbeCost& cost, double least_cost);

// Returns what the running probe cost up to the last report ...
ProbeCost CostSoFar(const RunningProbe& probe, const WatchedPod& pod);
// ... and what it costs from then until the quota is removed, if its end is requested `later` from
// now. Assumes the worse of the expected and the observed rate.
ProbeCost CostUntilItsEnd(const ProfilerPass& pass, const RunningProbe& probe,
                          const WatchedPod& pod, Duration later = Duration::zero());

// Returns the iterations that probes may still cost, based on an hour of the pod at its speed so
// far.
double Budget(const ProfilerPass& pass, const Measurement& measurement, const WatchedPod& pod);
// Grants a new budget if the measurement starts over more than an hour after its first probe.
void CountHours(const ProfilerPass& pass, Measurement& measurement);

}  // namespace synergy
