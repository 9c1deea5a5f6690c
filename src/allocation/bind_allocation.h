#pragma once

// The CPU and memory of a node that a pod gets when it is bound there (docs/internals/tuner.md):
// its whole demand if that is free; otherwise as much as is free beside the node's headroom and the
// reserve of the GPUs that stay free, but never less than its requests. No other pod is cut for it.
//
// Threading: pure.

#include <optional>
#include <string>

#include "allocation/best_fit.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/resources.h"

namespace synergy {

// The reserve of `free` GPUs.
ResourceVector ReservedOf(Gpus free, const ResourceVector& per_gpu);

// REQUIRES: the pod fits on `node`, is not counted there, and has a fungible container, whose
// amounts these are.
ResourceVector AllocationAtBind(const Pod& pod, const NodeState& node,
                                const ResourceVector& reserve_per_gpu);

// The same for one of several pods. `left`: the free amounts of the node for it beyond its
// requests; `reserved`: the part of that to keep free if not all pods get their whole demand.
ResourceVector GivenWithin(const ManagedContainer& fungible, const ResourceVector& left,
                           const ResourceVector& reserved);

// Returns the pod with its fungible container requesting `amounts`.
Pod WithAllocation(Pod pod, const ResourceVector& amounts);

// Returns the pod as it is to be bound to the node of that name; unchanged if it may not be changed
// or there is no such node. If it is counted there already, that share is its own. `common`: the
// amounts of all members of its gang (gang_allocation.h), for `common->gpus`.
Pod PlanAtBind(const Pod& pod, const std::string& node, const ClusterSnapshot& snapshot,
               const ReserveRule& reserve, const std::optional<ResourceVector>& common = {});

}  // namespace synergy
