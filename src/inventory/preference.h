#pragma once

// Chooses devices for a container if the kubelet allows a choice.
//
// Choices are compared by these criteria, in order:
//   1. fewer NUMA nodes,
//   2. more link worth among the chosen (gpu.h: about GB/s),
//   3. less fragmentation: free devices stay together on NUMA nodes (the sum of the squares of the
//      free devices on each),
//   4. more link worth among what stays free,
//   5. lower positions, so that the answer is deterministic.
// The search is exact for up to 16 candidates, because it evaluates every choice. With more
// candidates, choices grow one by one from every start, by the same criteria. Slices are chosen one
// by one, from the GPU with the most free slices.
//
// Threading: pure.

#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "inventory/advertisement.h"
#include "inventory/gpu.h"

namespace synergy {

inline constexpr size_t kMostExactCandidates = 16;

// Returns `size` ids from `available`, including all of `required`, in the devices' order. Returns
// kInvalid if that is impossible, or an id is not one of `devices`.
Result<std::vector<std::string>> PreferDevices(const GpuInventory& inventory,
                                               std::span<const GpuDevice> devices,
                                               std::span<const std::string> available,
                                               std::span<const std::string> required, size_t size);

}  // namespace synergy
