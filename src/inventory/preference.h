#pragma once

// Chooses devices for a container if the kubelet allows a choice.
//
// A choice is better by, in this order:
//   1. fewer NUMA nodes,
//   2. more link worth among the chosen (gpu.h: about GB/s),
//   3. less fragmentation: free devices that stay together on a NUMA node (the sum of the squares
//      of what stays free on each),
//   4. more link worth among what stays free,
//   5. lower positions, so that the answer is always the same.
// Exact for up to 16 candidates, where every choice is evaluated. For more, choices grow one by one
// from every start, by the same order. Slices are chosen one by one, of the GPU that has most of
// them free.
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

// Returns `size` ids from `available`, including all of `required`, in the devices' order.
// kInvalid: impossible, or an id is not one of `devices`.
Result<std::vector<std::string>> PreferDevices(const GpuInventory& inventory,
                                               std::span<const GpuDevice> devices,
                                               std::span<const std::string> available,
                                               std::span<const std::string> required, size_t size);

}  // namespace synergy
