#pragma once

// Converts nodes, gangs and queues for the page.
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

// Returns the nodes with GPUs, whole or shared, by name. A node's group comes from its labels
// topology.kubernetes.io/zone and topology.kubernetes.io/rack.
std::map<std::string, MapNode> NodesOf(const ClusterSnapshot& cluster);

// Returns the key of the pod's gang on the page: the gang's name, or the pod's namespace and name
// if the labels name no gang. Returns an empty key if the pod trains alone.
std::string GangKey(const Pod& pod);

// Returns the gangs of the pods, by key. `cluster`: null if unknown.
MapObjects GangsOf(const std::vector<Pod>& pods, const ClusterSnapshot* cluster);

// The queues as `synergy queue` describes them.
struct MapQueues {
  MapObjects queues;     // by name
  MapObjects workloads;  // by "NAMESPACE/WORKLOAD"
};

MapQueues QueuesOnMap(const std::vector<QueueView>& queues);

}  // namespace synergy::cli
