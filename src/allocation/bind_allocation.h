#pragma once

// Computes the CPU and memory that a pod gets when it is bound to a node (docs/internals/tuner.md).
// The pod gets its whole demand if that is free. Otherwise it gets the free amounts beyond the
// node's headroom and the reserve of the GPUs that stay free, but never less than its requests. No
// other pod is cut for this pod.
//
// Threading: pure.

#include <optional>
#include <string>

#include "allocation/best_fit.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/resources.h"

namespace synergy {

// Returns the CPU and memory to reserve for `free` GPUs.
ResourceVector ReservedOf(Gpus free, const ResourceVector& per_gpu);

// Returns the amounts of the pod's fungible container. REQUIRES: the pod fits on `node`, is not
// counted there, and has a fungible container.
ResourceVector AllocationAtBind(const Pod& pod, const NodeState& node,
                                const ResourceVector& reserve_per_gpu);

// Returns the amounts for one of several pods that are bound together. `left`: the node's free
// amounts that this pod may use beyond its requests. `reserved`: the part of `left` to keep free if
// not all pods get their whole demand.
ResourceVector GivenWithin(const ManagedContainer& fungible, const ResourceVector& left,
                           const ResourceVector& reserved);

// Returns the pod with its fungible container requesting `amounts`.
Pod WithAllocation(Pod pod, const ResourceVector& amounts);

// Returns the pod with the amounts to bind it with on the node named `node`. Returns the pod
// unchanged if its amounts are fixed or no such node exists. If the node already counts the pod,
// the pod's own share counts as free. `common`: the amounts that all members of its gang get
// (gang_allocation.h), for `common->gpus`.
Pod PlanAtBind(const Pod& pod, const std::string& node, const ClusterSnapshot& snapshot,
               const ReserveRule& reserve, const std::optional<ResourceVector>& common = {});

}  // namespace synergy
