#pragma once

// Computes how many pods of a job the cluster's nodes can hold. Kueue counts only GPUs. For
// example, it would give quota to 5 pods of 3 GPUs, although two nodes of 8 GPUs hold only 4 of
// them.
//
// This file is separate because the planner receives only the answers: a recording contains no
// nodes.
//
// Threading: pure.

#include <cstdint>

#include "cluster/state/cluster_snapshot.h"
#include "core/units.h"
#include "queues/kueue.h"

namespace synergy {

// Returns how many of the workload's pods fit on the nodes that it may use, if these are empty. It
// may use schedulable nodes that its node selectors, affinities and GPU products allow; taints do
// not count. `quota`: the quota of its ClusterQueue. If the quota exceeds the GPUs of the allowed
// nodes, schedulable or not, an autoscaler has yet to create the nodes for the rest. The size of
// these nodes is unknown, so they count as one node.
int64_t PodsOnEmptyNodes(const ClusterSnapshot& cluster, const Workload& workload, Gpus quota);

}  // namespace synergy
