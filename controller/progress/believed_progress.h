#pragma once

// Filters what a node agent reports: only its own node's managed pods count. An attacker with the
// certificate of one node's agent can report nothing about other nodes' pods.
//
// Threading: pure.

#include <cstddef>
#include <string>
#include <vector>

#include "cluster/state/cluster_snapshot.h"
#include "profile/pod_progress.h"

namespace synergy::controller {

struct BelievedProgress {
  std::vector<PodProgress> pods;  // with names from the API server
  size_t not_here = 0;            // dropped: no such pod on the node
  size_t not_managed = 0;         // dropped: Synergy does not manage it
};

// `node`: where the agent's pod runs according to the API server.
BelievedProgress Believe(std::vector<PodProgress> told, const std::string& node,
                         const ClusterSnapshot& cluster);

}  // namespace synergy::controller
