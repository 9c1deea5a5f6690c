#pragma once

// Parses the kernel's files about the memory use of a control group and of the node.
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
  Bytes usage;  // as the kubelet counts it, including page cache
  // The part that cannot be released: anonymous memory, shared memory, and the kernel's own memory.
  Bytes held;
};

// A sample of a container's memory, with signs of whether its processes suffer.
struct MemorySample {
  MemoryUse use;
  Bytes cache;        // page cache that the kernel can drop at once: neither mapped nor dirty
  Bytes mapped;       // mapped page cache: programs, libraries, data
  Bytes working_set;  // as the kubelet counts it: everything but cache that was used only once
  Bytes refaulted;    // cache read again after it was dropped, since the group was created
  // The time in which a process waited for memory (PSI), since the group was created.
  std::optional<Duration> stalled;
  bool cache_can_be_released = false;  // whether cache alone can be released

  // Returns the memory that cannot be taken from the container.
  Bytes InUse() const { return cache_can_be_released ? use.held + mapped : working_set; }
};

// `pressure` is the text of memory.pressure; empty if the kernel has none.
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
// Parses /proc/meminfo.
Result<NodeMemory> ParseNodeMemory(std::string_view meminfo);

// `usage` is memory.usage_in_bytes, `stat` is memory.stat, and `kernel` is
// memory.kmem.usage_in_bytes (empty if the kernel has no such file).
Result<MemoryUse> ParseMemoryUseV1(std::string_view usage, std::string_view stat,
                                   std::string_view kernel);
// Parses memory.current and memory.stat.
Result<MemoryUse> ParseMemoryUseV2(std::string_view usage, std::string_view stat);

// Parses the limit file of either version; returns kNoMemoryLimit if there is no limit.
Result<Bytes> ParseMemoryLimit(std::string_view text);
inline constexpr Bytes kNoMemoryLimit = Bytes(INT64_MAX);

}  // namespace synergy::nodeagent
