#pragma once

// What the members of a gang are given when they are bound: all the same, per GPU, because the
// slowest decides how fast the gang is. It is the least of what their nodes have to give
// (bind_allocation.h), where each node gives to all members that come to it, and of what those have
// that run already.
//
// Threading: pure.

#include <optional>
#include <string>

#include "allocation/best_fit.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/resources.h"

namespace synergy {

// For a gang whose members are all counted where they are to be; the amounts are for `gpus` of
// them. None where nothing may be changed of any member.
std::optional<ResourceVector> AllocationOfGang(const ClusterSnapshot& snapshot,
                                               const std::string& gang, const ReserveRule& reserve);

}  // namespace synergy
