#pragma once

// Computes the amounts that the members of a gang get when they are bound. All get the same amounts
// per GPU, because the slowest member determines the gang's speed. These are the smallest amounts
// that a node can give to all members placed there (bind_allocation.h), or that a running member
// has.
//
// Threading: pure.

#include <optional>
#include <string>

#include "allocation/best_fit.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/resources.h"

namespace synergy {

// Returns the common amounts for the number of GPUs in their `gpus`. Returns nullopt if no member
// may be changed. REQUIRES: all members of the gang are counted at their places.
std::optional<ResourceVector> AllocationOfGang(const ClusterSnapshot& snapshot,
                                               const std::string& gang, const ReserveRule& reserve);

}  // namespace synergy
