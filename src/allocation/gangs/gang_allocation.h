#pragma once

// The amounts that the members of a gang get when they are bound: the same for all, per GPU,
// because the slowest member determines the speed of the gang. They are the least of what each node
// can give to all members that come to it (bind_allocation.h), and of what running members have.
//
// Threading: pure.

#include <optional>
#include <string>

#include "allocation/best_fit.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/resources.h"

namespace synergy {

// REQUIRES: all members of the gang are counted at their places. The amounts are for `gpus` of
// them. None if no member may be changed.
std::optional<ResourceVector> AllocationOfGang(const ClusterSnapshot& snapshot,
                                               const std::string& gang, const ReserveRule& reserve);

}  // namespace synergy
