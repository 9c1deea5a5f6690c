#pragma once

// A node's CPU and memory divided among its tenants: the knapsack of re_division.h with what each
// tenant may have as choices. Private to this folder; surplus.h and gang_division.h say when.
//
// Threading: pure.

#include <optional>
#include <span>
#include <vector>

#include "allocation/tenant.h"
#include "core/resources.h"

namespace synergy {

// What a change has to be worth at least, so that equal divisions change nothing.
inline constexpr double kLeastGain = 1e-6;

// What a tenant may have.
struct Range {
  ResourceVector least;
  ResourceVector most;
};

// `common`, which is for `common.gpus`, for the tenant's GPUs, as far as it may have that.
ResourceVector Part(const Tenant& tenant, const Range& range, const ResourceVector& common);

// What members of a gang may have in common, for the GPUs of the first: amounts to be tried. What
// they have now is not among them where they have unequal parts of it.
std::vector<ResourceVector> CommonAmounts(std::span<const Tenant* const> members,
                                          std::span<const Range> ranges);

// The best division of what the tenants have and `spare` (negative: less than they have); none
// where not even the least fits. Tenants of one gang are given the same, per GPU.
std::optional<std::vector<ResourceVector>> DivideAgain(std::span<const Tenant> tenants,
                                                       std::span<const Range> ranges,
                                                       const ResourceVector& spare);

// Steps cut more than was asked for: the rest goes back to those who were cut.
void GiveBack(std::span<const Tenant> tenants, const ResourceVector& lacking,
              std::vector<ResourceVector>& amounts);

// Steps leave something over: it goes to whom it helps most, of those who train alone.
void GiveRest(std::span<const Tenant> tenants, std::span<const Range> ranges,
              const ResourceVector& spare, std::vector<ResourceVector>& amounts);

}  // namespace synergy
