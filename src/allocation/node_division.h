#pragma once

// Divides a node's CPU and memory among its shares (pod_share.h). It solves the knapsack of
// re_division.h over the amounts that each share may have. Private to this folder; surplus.h and
// gang_division.h use it.
//
// Threading: pure.

#include <optional>
#include <span>
#include <vector>

#include "allocation/pod_share.h"
#include "core/resources.h"

namespace synergy {

// The least gain in throughput that justifies a change, so that equal divisions change nothing.
inline constexpr double kLeastGain = 1e-6;

// The bounds of a share's amounts.
struct Range {
  ResourceVector least;
  ResourceVector most;
};

// Returns the share's part of `common`, which is for `common.gpus`, clamped to its range.
ResourceVector Part(const PodShare& share, const Range& range, const ResourceVector& common);

// Returns common amounts to try for members of a gang, scaled to the GPUs of the first member. If
// the members have unequal parts now, no common amounts leave all of them unchanged.
std::vector<ResourceVector> CommonAmounts(std::span<const PodShare* const> members,
                                          std::span<const Range> ranges);

// Returns the best division of the shares' amounts and `spare` (negative: less than the shares
// have), or nullopt if not even the least amounts fit. Shares of one gang either get equal amounts
// per GPU, or all keep their amounts. `storage_price`: the value, in throughput per byte per
// second, of the storage bandwidth that a share leaves unused.
std::optional<std::vector<ResourceVector>> DivideAgain(std::span<const PodShare> shares,
                                                       std::span<const Range> ranges,
                                                       const ResourceVector& spare,
                                                       double storage_price = 0);

// Gives back any excess over `lacking` to the shares that were cut. There is an excess if the steps
// of amounts cut more than `lacking`.
void GiveBack(std::span<const PodShare> shares, const ResourceVector& lacking,
              std::vector<ResourceVector>& amounts);

// Gives CPU that the steps of amounts left unused to the shares that gain most from it. Members of
// gangs get none.
void GiveRest(std::span<const PodShare> shares, std::span<const Range> ranges,
              const ResourceVector& spare, std::vector<ResourceVector>& amounts);

}  // namespace synergy
