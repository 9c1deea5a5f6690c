#pragma once

// The gangs of a cluster's pods as the page shows them.
//
// Threading: pure.

#include <string>

#include "cli/page/cluster_map.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy::cli {

// The pod's gang among those of the page: its name, or the pod's own where the labels have none;
// empty: it trains alone.
std::string GangKey(const Pod& pod);

// By key, of the pods that have one.
MapObjects GangsOf(const std::vector<Pod>& pods, const ClusterSnapshot& cluster);

}  // namespace synergy::cli
