#pragma once

// What a control group's memory is used for, from the kernel's own words.
//
// Threading: pure.

#include <cstdint>
#include <string_view>

#include "core/result.h"
#include "core/units.h"

namespace synergy::nodeagent {

struct MemoryUse {
  Bytes usage;  // as the kubelet counts it: page cache too
  // The part that cannot be given back: anonymous and shared memory, the kernel's own.
  Bytes held;
};

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
