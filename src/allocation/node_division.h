#pragma once

// Divides a node's CPU and memory among its tenants: the knapsack of re_division.h over the amounts
// that each tenant may have. Private to this folder; surplus.h and gang_division.h use it.
//
// Threading: pure.

#include <optional>
#include <span>
#include <vector>

#include "allocation/tenant.h"
#include "core/resources.h"

namespace synergy {

// Least gain that is worth a change, so that equal divisions change nothing.
inline constexpr double kLeastGain = 1e-6;

// The bounds of a tenant's amounts.
struct Range {
  ResourceVector least;
  ResourceVector most;
};

// The tenant's part of `common`, which is for `common.gpus`, clamped to its range.
ResourceVector Part(const Tenant& tenant, const Range& range, const ResourceVector& common);

// Returns common amounts to try for members of a gang, for the GPUs of the first. If the members
// have unequal parts now, their present amounts are not among them.
std::vector<ResourceVector> CommonAmounts(std::span<const Tenant* const> members,
                                          std::span<const Range> ranges);

// Returns the best division of the tenants' amounts and `spare` (negative: less than they have);
// none if not even the least fits. Tenants of one gang get the same, per GPU.
std::optional<std::vector<ResourceVector>> DivideAgain(std::span<const Tenant> tenants,
                                                       std::span<const Range> ranges,
                                                       const ResourceVector& spare);

// Steps may cut more than requested: returns the rest to the tenants that were cut.
void GiveBack(std::span<const Tenant> tenants, const ResourceVector& lacking,
              std::vector<ResourceVector>& amounts);

// Steps may leave CPU over: gives it to the tenants that it helps most, gangs excluded.
void GiveRest(std::span<const Tenant> tenants, std::span<const Range> ranges,
              const ResourceVector& spare, std::vector<ResourceVector>& amounts);

}  // namespace synergy
