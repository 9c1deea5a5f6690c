#pragma once

// Re-division of a node's CPU and memory where its shares read from one storage: memory goes where
// it saves the reads that others wait for. Private to this folder and surplus.h.
//
// With water-filling (storage_left.h), all that shares wait for each other comes down to one
// number, the level: the most that any of them gets. For each level that is tried, a share's speed
// depends on its own amounts alone, and what it reads up to the level has a price. The knapsack of
// re_division.h divides CPU and memory for each level and price; the division with the most
// throughput wins, by what the storage then really leaves. It is the best where the storage is not
// short, and near it otherwise (storage_division_property_test).
//
// Threading: pure.

#include <optional>
#include <span>
#include <vector>

#include "allocation/node_division.h"
#include "allocation/pod_share.h"
#include "core/resources.h"

namespace synergy {

// DivideAgain() with the storage divided, too. REQUIRES: the shares are of one node.
std::optional<std::vector<ResourceVector>> DivideWithStorage(std::span<const PodShare> shares,
                                                             std::span<const Range> ranges,
                                                             const ResourceVector& spare);

}  // namespace synergy
