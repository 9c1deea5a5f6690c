#pragma once

// Writes a snapshot as JSON, for people who look for the reason of a decision: every node with what
// it offers, what is taken, and by which pods. CPU is in thousandths of a core, and memory in
// bytes.
//
// Threading: pure.

#include <string>

#include "cluster/state/cluster_snapshot.h"

namespace synergy::wire {

std::string WriteSnapshot(const ClusterSnapshot& snapshot, const std::string& gpu_resource);

}  // namespace synergy::wire
