#pragma once

// Divides several nodes again at once when they share gangs. All members of a gang get the same
// amounts per GPU, and each trains at the speed of the slowest.
//
// For each possible amount of a gang, the other shares of its nodes are divided again, node by node
// (surplus.h). This continues, gang by gang, until neither a single gang nor an exchange between
// two gangs on one node improves the result. With one gang the search finds the best of the amounts
// that it tries. With several gangs it may miss the best combination. The search also tries a
// simple division: divide each node on its own, as if all members trained alone, then lower each
// gang to its least member. So the result is never worse than the simple division.
//
// Threading: pure.

#include <span>
#include <vector>

#include "allocation/pod_share.h"
#include "core/resources.h"

namespace synergy {

struct DividedNode {
  std::span<const PodShare> shares;  // on all nodes, shares with the same `gang` belong together
  ResourceVector spare;              // free amounts beyond those of the shares
};

// Indexed by node, then by share.
using NodeAmounts = std::vector<std::vector<ResourceVector>>;

// Returns the new amounts with the highest total throughput. A member whose bounds exclude the
// common amounts gets the nearest amounts within them.
NodeAmounts RegrowTogether(std::span<const DividedNode> nodes);

// Returns the present amounts, but with the members of each gang lowered to the gang's least
// amounts.
NodeAmounts Levelled(std::span<const DividedNode> nodes);

}  // namespace synergy
