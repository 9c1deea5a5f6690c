#pragma once

// Which devices a container should get when the kubelet lets us choose.
//
// A choice is better by, in this order:
//   1. fewer NUMA nodes,
//   2. more link worth among the chosen (gpu.h: about GB/s),
//   3. less fragmentation: free devices that stay together on a NUMA node (the sum of the squares
//      of what stays free on each),
//   4. more link worth among what stays free,
//   5. lower positions, so that the answer is always the same.
// Exact for up to 16 candidates, where every choice is looked at; beyond that grown one by one
// from every start, by the same order.
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

// `size` ids out of `available`, all of `required` among them, in the devices' order. kInvalid when
// that is impossible or an id is not one of `devices`.
Result<std::vector<std::string>> PreferDevices(const GpuInventory& inventory,
                                               std::span<const GpuDevice> devices,
                                               std::span<const std::string> available,
                                               std::span<const std::string> required, size_t size);

}  // namespace synergy
