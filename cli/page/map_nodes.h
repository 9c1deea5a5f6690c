#pragma once

// The nodes with GPUs as the page shows them.
//
// Threading: pure.

#include <map>
#include <string>

#include "cli/page/cluster_map.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy::cli {

// By name. A node's group is what its labels topology.kubernetes.io/zone and
// topology.kubernetes.io/rack say.
std::map<std::string, MapNode> NodesOf(const ClusterSnapshot& cluster);

}  // namespace synergy::cli
