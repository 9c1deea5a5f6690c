#pragma once

// Moves CPU and memory between the running pods of a node: amounts above the floors go where they
// are needed (Reclaim), spare amounts go where they help most (Regrow). Both use the
// multiple-choice knapsack of re_division.h over the amounts that each pod may have;
// docs/internals/tuner.md describes when.
//
// Threading: pure.

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "allocation/pod_share.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "core/resources.h"

namespace synergy {

// Returns what reclaim may take from a pod sooner or later, per dimension: its requests above its
// floor, as far as its node gets them back, because init containers may request more. Nothing from
// a pod that waits or is being deleted, that a user changed by hand, or whose last cut the kubelet
// could not make, or that lends; never what others lend it; on a node, nothing from a pod that a
// resize may cost its GPUs (cluster/devices/device_safety.h). All programs use it: the tuner cuts
// within it, the extender evicts no pod for room that it can make, the command line shows it.
//
// Memory is never cut below what is in use and a margin, by a fresh reading of the node agent; not
// at all without a reading, on a node that is short of memory, after an OOM kill that followed a
// change, and if the request is the limit (`strict`), which is never lowered.
ResourceVector Surplus(const Pod& pod, WallTime now);
ResourceVector SurplusOn(const NodeState& node, const Pod& pod, WallTime now);

// Maximum age of a reading. The agent writes one at least twice in that time for a pod that has
// memory above its floor.
inline constexpr Duration kReadingIsFresh = std::chrono::minutes(10);
// Memory to keep free above what is in use, for growth between two readings.
Bytes MemoryMargin(Bytes in_use);

// Whether the tuner may change the pod now: no change of it is in progress, and the kubelet has
// reported its amounts. Before that a cut cannot be counted: the pod may still start with the
// amounts that it was bound with after the room has gone to another.
bool IsSettled(const Pod& pod);

// Returns the pod as it is when the CPU that it lends or borrows is back.
std::shared_ptr<const Pod> WithoutLoan(const std::shared_ptr<const Pod>& pod);

// Returns the node without its pods' surplus, once all loans are back: the tuner ends them for a
// pod that waits.
NodeState WithoutSurplus(const NodeState& node, WallTime now);

// Returns new amounts, by share, that free at least `lacking` (CPU and memory) at the least cost
// in throughput; a dimension that is not lacking does not change. None if the surplus is too small.
// Members of one gang are cut alike.
std::optional<std::vector<ResourceVector>> Reclaim(std::span<const PodShare> shares,
                                                   const ResourceVector& lacking);

// Returns new amounts, by share, with the most total throughput, if `spare` is free beyond the
// shares' amounts. For gangs on several nodes use gang_division.h.
std::vector<ResourceVector> Regrow(std::span<const PodShare> shares, const ResourceVector& spare);

}  // namespace synergy
