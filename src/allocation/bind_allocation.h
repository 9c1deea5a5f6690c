#pragma once

// What a pod is given of a node's CPU and memory when it is bound there (docs/tuner.md): its
// whole demand where that is free, else as much of it as is free beside the reserve of the GPUs
// that stay free and the node's headroom, and never less than it asks for. Nobody else is cut for
// it.
//
// Threading: pure.

#include <optional>
#include <string>

#include "allocation/best_fit.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/resources.h"

namespace synergy {

// What stays free beside so many GPUs.
ResourceVector ReservedOf(Gpus free, const ResourceVector& per_gpu);

// For a pod that fits on `node` and is not counted there. The amounts are those of its fungible
// container, which it must have.
ResourceVector AllocationAtBind(const Pod& pod, const NodeState& node,
                                const ResourceVector& reserve_per_gpu);

// The same of a pod that is one of several, where `left` is what the node has free for it beside
// its requests, and `reserved` what of that stays free if not all have their whole demand.
ResourceVector GivenWithin(const Fungible& fungible, const ResourceVector& left,
                           const ResourceVector& reserved);

// The pod as it counts once its fungible container asks for `amounts`.
Pod WithAllocation(Pod pod, const ResourceVector& amounts);

// The pod as it is to be bound to the node of that name; as it is, where nothing of it may be
// changed or there is no such node. Where it is counted there already, that share is its own.
// `common`: what all members of its gang are given (gang_allocation.h), for `common->gpus`.
Pod PlanAtBind(const Pod& pod, const std::string& node, const ClusterSnapshot& snapshot,
               const ReserveRule& reserve, const std::optional<ResourceVector>& common = {});

}  // namespace synergy
