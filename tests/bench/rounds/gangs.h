#pragma once

// Measures snapshots of a large cluster with gangs: 5000 nodes with 8 GPUs, on which 40,000 pods
// run.

#include <cstddef>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_state.h"

namespace synergy::bench {

// Fills the cluster. The first 8 x `gangs` pods form gangs of eight, each on two nodes; each of the
// others trains alone. Returns a hundred pods, which belong to different gangs if there are 2000.
std::vector<Pod> FillWithGangs(ClusterState& state, size_t gangs);

// Removes and adds each pod, with a snapshot after each change: twice `pods.size()` snapshots.
void SnapshotEachChange(ClusterState& state, const std::vector<Pod>& pods);

}  // namespace synergy::bench
