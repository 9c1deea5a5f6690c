#pragma once

// Nodes, gangs and queues as the page shows them.
//
// Threading: pure.

#include <map>
#include <string>
#include <vector>

#include "cli/page/cluster_map.h"
#include "cli/views/queue_view.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy::cli {

// The nodes with GPUs, by name. A node's group is what its labels topology.kubernetes.io/zone and
// topology.kubernetes.io/rack say.
std::map<std::string, MapNode> NodesOf(const ClusterSnapshot& cluster);

// The pod's gang among those of the page: its name, or the pod's own where the labels have none;
// empty: it trains alone.
std::string GangKey(const Pod& pod);

// By key, of the pods that have one.
MapObjects GangsOf(const std::vector<Pod>& pods, const ClusterSnapshot& cluster);

// Queues: what `synergy queue` tells, in its words.
struct MapQueues {
  MapObjects queues;     // by name
  MapObjects workloads;  // by "NAMESPACE/WORKLOAD"
};

MapQueues QueuesOnMap(const std::vector<QueueView>& queues);

}  // namespace synergy::cli
