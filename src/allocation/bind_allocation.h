#pragma once

// What a pod is given of a node's CPU and memory when it is bound there (docs/tuner.md): its
// whole demand where that is free, else as much of it as is free beside the reserve of the GPUs
// that stay free, and never less than it asks for. Nobody else is cut for it.
//
// Threading: pure.

#include "cluster/cluster_snapshot.h"
#include "cluster/pod.h"
#include "core/resources.h"

namespace synergy {

// For a pod that fits on `node` and is not counted there. The amounts are those of its fungible
// container, which it must have.
ResourceVector AllocationAtBind(const Pod& pod, const NodeState& node,
                                const ResourceVector& reserve_per_gpu);

// The pod as it counts once its fungible container asks for `amounts`.
Pod WithAllocation(Pod pod, const ResourceVector& amounts);

// The node as it would be if all its fungible pods had been cut to their floors: what the tuner can
// make room with. Pods that somebody changed by hand keep what they have.
NodeState AtFloors(const NodeState& node);

}  // namespace synergy
