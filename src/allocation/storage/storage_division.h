#pragma once

// Divides a node's CPU and memory again among shares that read from one storage. Gives memory to
// shares whose reads it saves, if other shares wait for the storage. Private to this folder and
// surplus.h.
//
// With water-filling (storage_left.h), the most bandwidth that any share gets is called the level.
// For a given level, a share's speed depends only on its own amounts. Bandwidth that a share uses
// up to the level has a price. The knapsack of re_division.h divides CPU and memory for each level
// and price. The division with the highest throughput, with the bandwidth that each share then
// really gets, wins. That division is optimal if storage is not short, and close to optimal
// otherwise (storage_division_property_test).
//
// Threading: pure.

#include <optional>
#include <span>
#include <vector>

#include "allocation/node_division.h"
#include "allocation/pod_share.h"
#include "core/resources.h"

namespace synergy {

// Returns what DivideAgain() returns, but also takes into account how the shares divide the
// storage. REQUIRES: all shares are on one node.
std::optional<std::vector<ResourceVector>> DivideWithStorage(std::span<const PodShare> shares,
                                                             std::span<const Range> ranges,
                                                             const ResourceVector& spare);

}  // namespace synergy
