#pragma once

// What an agent tells of one pod, and what of it counts (engine/profiler/profiler.h).
//
// Threading: pure.

#include <optional>

#include "engine/profiler/profiler.h"
#include "engine/profiler/profiler_memory.h"
#include "profile/measured/rate_window.h"

namespace synergy {

// Whether the pod may use as much CPU and memory as it might before.
bool SameAmounts(const Pod& a, const Pod& b);

// What the pod's GPU busy time says, as if it were iterations (BusyEstimate); none: nothing is
// known of it, or there is better.
std::optional<PodProgress> EstimatedProgress(const PodProgress& progress);

// Whether samples of the pod count for its measurement, which is of one kind: iterations, or busy
// time. Iterations go first, and what was estimated is forgotten.
bool Counts(ProfilerMemory& memory, const WatchedPod& pod);

// Takes what is told into `pod`. None: nothing of it is new, or it does not count yet. The progress
// has a format and a `last`.
std::optional<ProgressSample> Listen(const ProfilerSettings& settings, WatchedPod& pod,
                                     const PodProgress& progress, WallTime since);

}  // namespace synergy
