#pragma once

// Re-division of several nodes at once, which gangs hold together: all members of a gang are given
// the same, per GPU, and are as fast as the slowest of them.
//
// A gang's amounts are tried one after the other; with each, everybody else on its nodes is divided
// again, node by node (surplus.h). Gang after gang, until none of them can do better alone, nor two
// that meet on a node by an exchange. With one gang that finds the best there is, of the amounts
// that are tried; with several it may miss it. It never comes to less than dividing each node by
// itself, its members as if they trained alone, and taking the least that a gang's members are
// given: that is tried, too.
//
// Threading: pure.

#include <span>
#include <vector>

#include "allocation/tenant.h"
#include "core/resources.h"

namespace synergy {

struct DividedNode {
  std::span<const Tenant> tenants;  // of all nodes, those with the same `gang` are of one
  ResourceVector spare;             // what is free beside what they have
};

// Node by node and tenant by tenant.
using NodeAmounts = std::vector<std::vector<ResourceVector>>;

// New amounts with the most throughput in all. A member whose bounds do not let it have what the
// others have is given what is nearest to it.
NodeAmounts RegrowTogether(std::span<const DividedNode> nodes);

// The same tenants with each gang's members at what its least has, and everybody else as it is.
NodeAmounts Levelled(std::span<const DividedNode> nodes);

}  // namespace synergy
