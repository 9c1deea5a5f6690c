#pragma once

// Moves CPU and memory between the running pods of a node. Reclaim takes amounts above the floors
// for pods that need them. Regrow gives spare amounts to the pods that gain most. Both solve the
// multiple-choice knapsack of re_division.h over the amounts that each pod may have;
// docs/internals/tuner.md describes when they run.
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

// Returns the CPU and memory that reclaim may take from a pod now or later: its requests above its
// floor. Amounts that do not become free on the node, because init containers request more, do not
// count. Returns zero for a pod that waits, is being deleted, has opted out, lends CPU, was changed
// by hand, or whose last cut the kubelet could not make. Never includes CPU that the pod borrows.
// On a node where a resize may cost a pod its GPUs, SurplusOn() returns zero for that pod
// (cluster/devices/device_safety.h). All programs use this surplus: the tuner cuts within it, the
// extender evicts no pod for room that it can make, and the command line shows it.
//
// Memory is never cut below the node agent's fresh reading of its use plus a margin. It is not cut
// without a reading, on a node that is short of memory, or after an OOM kill that followed a
// change. Nor is it cut if the request equals the limit (`strict`), because limits are never
// lowered.
ResourceVector Surplus(const Pod& pod, WallTime now);
ResourceVector SurplusOn(const NodeState& node, const Pod& pod, WallTime now);
// Returns whether a change to the amounts `to` takes no more from the pod than SurplusOn().
bool IsWithinSurplus(const NodeState& node, const Pod& pod, const ResourceVector& to, WallTime now);

// Maximum age of a reading. For a pod whose memory is above its floor, the node agent writes a
// reading at least twice in that time.
inline constexpr Duration kReadingIsFresh = std::chrono::minutes(10);
// Returns the memory to keep free beyond what is in use, for growth between two readings.
Bytes MemoryMargin(Bytes in_use);

// Returns whether the tuner may change the pod now: no change of it is in progress, and the kubelet
// has reported its amounts. Before that report, a cut cannot be counted: the pod may still start
// with the amounts that it was bound with, after another pod has got the room.
bool IsSettled(const Pod& pod);

// Returns the pod with its own CPU, as if every CPU loan to or from it had ended.
std::shared_ptr<const Pod> WithoutLoan(const std::shared_ptr<const Pod>& pod);

// Returns the node without its pods' surplus and with all loans returned, because the tuner ends
// loans for a pod that waits.
NodeState WithoutSurplus(const NodeState& node, WallTime now);

// Returns new amounts, by share, that free at least `lacking` (CPU and memory) at the lowest cost
// in throughput; a dimension that is not lacking does not change. Returns nullopt if the surplus is
// too small. Members of one gang are cut alike.
std::optional<std::vector<ResourceVector>> Reclaim(std::span<const PodShare> shares,
                                                   const ResourceVector& lacking);

// Returns the new amounts, by share, with the highest total throughput, given that `spare` is free
// beyond the shares' amounts. For gangs on several nodes use gang_division.h.
std::vector<ResourceVector> Regrow(std::span<const PodShare> shares, const ResourceVector& spare);

}  // namespace synergy
