#include "engine/profiler/memory_harm.h"

#include <chrono>

namespace synergy {
namespace {

// The API truncates times to whole seconds.
constexpr Duration kCutOff = std::chrono::seconds(1);

std::optional<WallTime> MemoryChanged(const Pod& pod) {
  if (!pod.fungible || !pod.fungible->change) return std::nullopt;
  return pod.fungible->change->MemoryChanged();
}

bool Follows(WallTime then, WallTime changed, Duration watch) {
  return then >= changed - kCutOff && then <= changed + watch;
}

}  // namespace

std::string_view ToString(MemoryHarm harm) {
  switch (harm) {
    case MemoryHarm::kOomKilled:
      return "oom_killed";
    case MemoryHarm::kEvicted:
      return "evicted";
  }
  return "unknown";
}

bool MemoryChangedWithin(const Pod& pod, WallTime now, Duration watch) {
  const std::optional<WallTime> changed = MemoryChanged(pod);
  return changed && Follows(now, *changed, watch);
}

std::optional<MemoryHarm> HarmAfterChange(const Pod& pod, WallTime now, Duration watch) {
  const std::optional<WallTime> changed = MemoryChanged(pod);
  if (!changed) return std::nullopt;
  const ManagedContainer& fungible = *pod.fungible;
  if (fungible.oom_killed && Follows(*fungible.oom_killed, *changed, watch)) {
    return MemoryHarm::kOomKilled;
  }
  if (fungible.evicted_for_memory && Follows(now, *changed, watch)) return MemoryHarm::kEvicted;
  return std::nullopt;
}

}  // namespace synergy
