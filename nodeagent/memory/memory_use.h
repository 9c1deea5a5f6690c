#pragma once

// What a control group's memory is used for, from the kernel's own words.
//
// Threading: pure.

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/clock.h"
#include "core/result.h"
#include "core/units.h"

namespace synergy::nodeagent {

struct MemoryUse {
  Bytes usage;  // as the kubelet counts it: page cache too
  // The part that cannot be given back: anonymous and shared memory, the kernel's own.
  Bytes held;
};

// A look at a container's memory, with what tells whether its processes suffer.
struct MemorySample {
  MemoryUse use;
  Bytes cache;        // page cache that the kernel can drop at once: neither mapped nor dirty
  Bytes mapped;       // page cache that is mapped: programs, libraries, mapped data
  Bytes working_set;  // as the kubelet counts it: all but cache that nobody has used twice
  Bytes refaulted;    // since the group was made: read again after it was dropped
  std::optional<Duration> stalled;     // likewise: time in which a process waited for memory (PSI)
  bool cache_can_be_released = false;  // and nothing but cache

  // What cannot be taken from the container.
  Bytes InUse() const { return cache_can_be_released ? use.held + mapped : working_set; }
};

// Of a control group's file about pressure: since it was made, time in which any of its threads
// waited (PSI, `some`). None: it does not say so.
std::optional<Duration> ParseSomeStalled(std::string_view pressure);

// `pressure` is memory.pressure; empty where the kernel has none.
Result<MemorySample> ParseMemorySampleV2(std::string_view usage, std::string_view stat,
                                         std::string_view pressure);
Result<MemorySample> ParseMemorySampleV1(std::string_view usage, std::string_view stat,
                                         std::string_view kernel);

// The whole node's memory.
struct NodeMemory {
  Bytes total;
  Bytes free;
  Bytes available;  // as the kubelet counts it for evictions (memory.available)
};
// /proc/meminfo.
Result<NodeMemory> ParseNodeMemory(std::string_view meminfo);

// `usage` is memory.usage_in_bytes, `stat` memory.stat, `kernel` memory.kmem.usage_in_bytes (empty
// on kernels that have no such file).
Result<MemoryUse> ParseMemoryUseV1(std::string_view usage, std::string_view stat,
                                   std::string_view kernel);
// memory.current and memory.stat.
Result<MemoryUse> ParseMemoryUseV2(std::string_view usage, std::string_view stat);

// A limit's file, of either version; the largest amount there is where there is no limit.
Result<Bytes> ParseMemoryLimit(std::string_view text);
inline constexpr Bytes kNoMemoryLimit = Bytes(INT64_MAX);

}  // namespace synergy::nodeagent
