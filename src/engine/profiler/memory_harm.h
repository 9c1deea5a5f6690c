#pragma once

// Detects an OOM kill or an eviction for memory soon after a change of a pod's memory. Changes must
// not have this effect (docs/internals/sizing.md). After such a case, the pod's memory is never
// changed again.
//
// This file is separate because the controller, which watches for such harm, needs nothing else of
// the profiler.
//
// Threading: pure.

#include <cstdint>
#include <optional>
#include <string_view>

#include "cluster/pod.h"
#include "core/clock.h"

namespace synergy {

enum class MemoryHarm : uint8_t { kOomKilled, kEvicted };
std::string_view ToString(MemoryHarm harm);  // "oom_killed", "evicted"

// Returns whether the pod's memory was changed at most `watch` ago.
bool MemoryChangedWithin(const Pod& pod, WallTime now, Duration watch);

// Returns the harm to the pod at most `watch` after the last change of its memory. An eviction has
// no recorded time, so it counts as happening now.
std::optional<MemoryHarm> HarmAfterChange(const Pod& pod, WallTime now, Duration watch);

}  // namespace synergy
