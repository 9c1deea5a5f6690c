#pragma once

// How the CPU and memory of running pods on one node change hands: what is above the floors goes
// where it is needed (Reclaim), what is spare goes where it does the most (Regrow). Both are the
// multiple-choice knapsack of re_division.h over what each pod may have; docs/tuner.md says
// when they are used.
//
// Threading: pure.

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "allocation/tenant.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "core/resources.h"

namespace synergy {

// What reclaim may take from a pod sooner or later, per dimension: what it requests above its
// floor, as far as its node gets that back: init containers may ask for more. Nothing from a pod
// that waits or leaves, that somebody changed by hand, or whose last cut the kubelet could not
// make; on a node, nothing from one that a resize may cost its GPUs (cluster/device_safety.h). The
// one answer for everybody: the tuner cuts within it, the extender evicts nobody for room that it
// can make, the command line shows it.
//
// Memory is never cut below what is in use and a margin, by a fresh reading of the node agent's;
// not at all without one, where the node is short of memory, where an OOM kill has followed a
// change, and where the request is the limit (`strict`), which is never lowered.
ResourceVector Surplus(const Pod& pod, WallTime now);
ResourceVector SurplusOn(const NodeState& node, const Pod& pod, WallTime now);

// How old a reading may be. The agent writes one at least twice in that time for a pod that has
// memory above its floor.
inline constexpr Duration kReadingIsFresh = std::chrono::minutes(10);
// What is kept free above what is in use, and for what grows between two readings.
Bytes MemoryMargin(Bytes in_use);

// Whether the tuner may change the pod at this moment: no change of it is under way, and the
// kubelet has said what it gives it. Before that nobody can count a cut: the pod may start with
// what it was bound with when the room has gone to another one already.
bool IsSettled(const Pod& pod);

// The node as it would be without its pods' surplus.
NodeState WithoutSurplus(const NodeState& node, WallTime now);

// New amounts, tenant by tenant, that free at least `lacking` (CPU and memory) at the least cost in
// throughput; a dimension that does not lack is left as it is. None where the surplus is too small.
// Members of one gang are cut alike.
std::optional<std::vector<ResourceVector>> Reclaim(std::span<const Tenant> tenants,
                                                   const ResourceVector& lacking);

// New amounts, tenant by tenant, with the most throughput in all, where `spare` is free beside what
// the tenants have. Of no use for gangs on several nodes: gang_division.h.
std::vector<ResourceVector> Regrow(std::span<const Tenant> tenants, const ResourceVector& spare);

}  // namespace synergy
