#pragma once

// Checks the input of a simulation of the product.
//
// Threading: pure.

#include <span>

#include "core/result.h"
#include "sim/cluster/product_simulator.h"

namespace synergy {

// Returns kInvalid for a job that the cluster can never run, and for options that exclude each
// other.
Result<> CheckSimulation(const StartingCluster& cluster, std::span<const ProductJob> jobs,
                         const ProductOptions& options);

}  // namespace synergy
