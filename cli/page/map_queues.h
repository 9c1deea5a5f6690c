#pragma once

// Queues as the page shows them: what `synergy queue` tells, in its words.
//
// Threading: pure.

#include <vector>

#include "cli/page/cluster_map.h"
#include "cli/views/queue_view.h"

namespace synergy::cli {

struct MapQueues {
  MapObjects queues;     // by name
  MapObjects workloads;  // by "NAMESPACE/WORKLOAD"
};

MapQueues QueuesOnMap(const std::vector<QueueView>& queues);

}  // namespace synergy::cli
