#pragma once

// Writes a snapshot of the cluster as JSON, for people who look for the reason for a decision. It
// shows every node with the amounts that it offers, the amounts that are taken, and the pods that
// take them. CPU is in thousandths of a core, and memory in bytes.
//
// Threading: pure.

#include <string>

#include "cluster/state/cluster_snapshot.h"

namespace synergy::wire {

std::string WriteSnapshot(const ClusterSnapshot& snapshot, const std::string& gpu_resource);

}  // namespace synergy::wire
