#pragma once

// What probes cost: the iterations that a pod would have done without them, by the fastest that it
// was ever seen, bounded by ProfilerSettings::most_loss.
//
// Threading: pure.

#include <string_view>

#include "core/clock.h"
#include "engine/profiler/profiler_memory.h"
#include "engine/profiler/profiler_turn.h"

namespace synergy {

// The agent's own bound, from when it sees the probe, is two minutes.
inline constexpr Duration kLongestProbe = std::chrono::seconds(110);
// The measurement's note where no more can be afforded.
inline constexpr std::string_view kTooDearNote = "another probe would cost too much";

// Iterations a second that a pod would do that did `best`, with `used` cores that it had need of
// (RunningProbe), where an iteration takes `least_cost` CPU seconds.
double AtBest(double best, double used, double least_cost);
// Iterations.
double LostTo(const ProbeCost& cost, double least_cost);

// What the running probe has cost by what is told by now ...
ProbeCost CostSoFar(const RunningProbe& probe, const WatchedPod& pod);
// ... and what is not told until the quota is off, if that is asked for `later`: at the worst of
// what was expected and what is seen.
ProbeCost CostUntilItsEnd(const ProfilerTurn& turn, const RunningProbe& probe,
                          const WatchedPod& pod, Duration later = Duration::zero());

// Iterations that probes may still cost, of a pod's hour as it has trained so far.
double Budget(const ProfilerTurn& turn, const Measurement& measurement, const WatchedPod& pod);
// What is measured anew more than an hour after the first probe may cost as much again.
void CountHours(const ProfilerTurn& turn, Measurement& measurement);

}  // namespace synergy
