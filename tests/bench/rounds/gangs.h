#pragma once

// What a snapshot costs in a large cluster whose pods are of gangs: 5000 nodes with 8 GPUs, on
// which 40,000 pods run.

#include <cstddef>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_state.h"

namespace synergy::bench {

// Fills the cluster. The first 8 x `gangs` pods are of gangs of eight, each on two nodes; the
// others train alone. Returns a hundred pods, each of another gang where there are 2000.
std::vector<Pod> FillWithGangs(ClusterState& state, size_t gangs);

// A pod ends and comes again: a snapshot after each, `pods.size()` times two.
void SnapshotEachChange(ClusterState& state, const std::vector<Pod>& pods);

}  // namespace synergy::bench
