#pragma once

// Divides a node's CPU and memory among its shares: the knapsack of re_division.h over the amounts
// that each share may have. Private to this folder; surplus.h and gang_division.h use it.
//
// Threading: pure.

#include <optional>
#include <span>
#include <vector>

#include "allocation/pod_share.h"
#include "core/resources.h"

namespace synergy {

// Least gain that is worth a change, so that equal divisions change nothing.
inline constexpr double kLeastGain = 1e-6;

// The bounds of a share's amounts.
struct Range {
  ResourceVector least;
  ResourceVector most;
};

// The share's part of `common`, which is for `common.gpus`, clamped to its range.
ResourceVector Part(const PodShare& share, const Range& range, const ResourceVector& common);

// Returns common amounts to try for members of a gang, for the GPUs of the first. If the members
// have unequal parts now, their present amounts are not among them.
std::vector<ResourceVector> CommonAmounts(std::span<const PodShare* const> members,
                                          std::span<const Range> ranges);

// Returns the best division of the shares' amounts and `spare` (negative: less than they have);
// none if not even the least fits. Shares of one gang get the same, per GPU. `storage_price`: the
// worth, in throughput per byte and second, of what a share does not read of what is left to it.
std::optional<std::vector<ResourceVector>> DivideAgain(std::span<const PodShare> shares,
                                                       std::span<const Range> ranges,
                                                       const ResourceVector& spare,
                                                       double storage_price = 0);

// Steps may cut more than requested: returns the rest to the shares that were cut.
void GiveBack(std::span<const PodShare> shares, const ResourceVector& lacking,
              std::vector<ResourceVector>& amounts);

// Steps may leave some CPU unused: gives it to the shares that it helps most, gangs excluded.
void GiveRest(std::span<const PodShare> shares, std::span<const Range> ranges,
              const ResourceVector& spare, std::vector<ResourceVector>& amounts);

}  // namespace synergy
