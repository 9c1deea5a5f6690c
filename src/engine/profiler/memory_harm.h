#pragma once

// Whether a process has suffered for want of memory soon after its pod's memory was changed: what
// must not happen (docs/companion.md), and ends the changes of that pod's memory where it does.
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

// Whether the pod's memory was changed at most `watch` ago.
bool MemoryChangedWithin(const Pod& pod, WallTime now, Duration watch);

// What happened to the pod at most `watch` after the last change of its memory. An eviction bears
// no time: it is taken to have happened now.
std::optional<MemoryHarm> HarmAfterChange(const Pod& pod, WallTime now, Duration watch);

}  // namespace synergy
