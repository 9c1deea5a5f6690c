#pragma once

// Processes node agents' reports about a pod, and decides which parts count
// (engine/profiler/profiler.h).
//
// Threading: pure.

#include <optional>

#include "engine/profiler/profiler.h"
#include "engine/profiler/profiler_memory.h"
#include "profile/measured/rate_window.h"

namespace synergy {

// Returns whether two versions of a pod may use the same CPU and memory.
bool SameAmounts(const Pod& a, const Pod& b);

// Returns the pod's GPU busy time as if it were iterations (BusyEstimate); nullopt if it is unknown
// or better data exists.
std::optional<PodProgress> EstimatedProgress(const PodProgress& progress);

// Returns whether samples of the pod count for its measurement, which uses either iterations or
// busy time. Iterations win: the first pod that reports them makes the measurement drop all
// estimates.
bool Counts(ProfilerMemory& memory, const WatchedPod& pod);

// Records the report in `pod`. Returns nullopt if the report contains nothing new, or its samples
// do not count yet. REQUIRES: the progress has a format and a `last`.
std::optional<ProgressSample> Listen(const ProfilerSettings& settings, WatchedPod& pod,
                                     const PodProgress& progress, WallTime since);

}  // namespace synergy
