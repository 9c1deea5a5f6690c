#pragma once

// Divides a node's CPU and memory again where its shares read from one storage: memory goes where
// it saves reads for which other shares wait. Private to this folder and surplus.h.
//
// With water-filling (storage_left.h), one number, the level, determines how long shares wait for
// each other: it is the most that any of them gets. For each level tried, a share's speed depends
// only on its own amounts, and what it reads up to the level has a price. The knapsack of
// re_division.h divides CPU and memory for each level and price; the division with the highest
// throughput, given what the storage then really leaves, wins. The result is the best one where
// storage is not short, and close to it otherwise (storage_division_property_test).
//
// Threading: pure.

#include <optional>
#include <span>
#include <vector>

#include "allocation/node_division.h"
#include "allocation/pod_share.h"
#include "core/resources.h"

namespace synergy {

// Does what DivideAgain() does, and divides the storage, too. REQUIRES: all shares are on one node.
std::optional<std::vector<ResourceVector>> DivideWithStorage(std::span<const PodShare> shares,
                                                             std::span<const Range> ranges,
                                                             const ResourceVector& spare);

}  // namespace synergy
