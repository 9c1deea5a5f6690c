#pragma once

// Computes how many pods of a job the cluster's nodes can hold. Kueue counts only GPUs, and would
// give a job with pods of 3 GPUs a quota that nodes with 8 GPUs cannot fill.
//
// This file is separate because the planner receives only the answers: a recording contains no
// nodes. Threading: pure.

#include <cstdint>

#include "cluster/state/cluster_snapshot.h"
#include "core/units.h"
#include "queues/kueue.h"

namespace synergy {

// Returns how many of the workload's pods fit on the nodes that it may use, if these are empty. It
// may use schedulable nodes that its node selectors, affinities and GPU products allow; taints do
// not count. `quota`: the quota of its ClusterQueue. GPUs of the quota that no such node has,
// schedulable or not, belong to nodes that an autoscaler has yet to create. The size of these nodes
// is unknown, so they count as one node.
int64_t PodsOnEmptyNodes(const ClusterSnapshot& cluster, const Workload& workload, Gpus quota);

}  // namespace synergy
