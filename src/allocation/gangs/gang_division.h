#pragma once

// Re-division of several nodes at once that share gangs: all members of a gang get the same, per
// GPU, and are as fast as the slowest of them.
//
// For each of a gang's possible amounts, the other shares of its nodes are divided again, node by
// node (surplus.h). This continues, gang after gang, until neither a single gang nor an exchange
// between two gangs that share a node improves the result. For one gang this finds the best of the
// amounts tried; for several it may miss it. The result is never worse than to divide each node by
// itself, as if its members trained alone, and then to take the least that a gang's members get:
// that is tried, too.
//
// Threading: pure.

#include <span>
#include <vector>

#include "allocation/pod_share.h"
#include "core/resources.h"

namespace synergy {

struct DividedNode {
  std::span<const PodShare> shares;  // on all nodes, shares with the same `gang` belong together
  ResourceVector spare;              // free amounts beyond the shares'
};

// By node and share.
using NodeAmounts = std::vector<std::vector<ResourceVector>>;

// Returns new amounts with the most total throughput. A member whose bounds do not allow the common
// amounts gets what is nearest to them.
NodeAmounts RegrowTogether(std::span<const DividedNode> nodes);

// Returns the amounts with each gang's members lowered to their least, and all other shares
// unchanged.
NodeAmounts Levelled(std::span<const DividedNode> nodes);

}  // namespace synergy
