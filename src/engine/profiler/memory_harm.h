#pragma once

// Detects whether a pod's process was killed, or the pod evicted, for lack of memory soon after the
// pod's memory was changed. This must not happen (docs/internals/sizing.md); if it does, that pod's
// memory is no longer changed.
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
