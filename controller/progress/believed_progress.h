#pragma once

// What of a node agent's word is believed: that it is about managed pods of its own node. Whoever
// holds the certificate of one node's agent can say nothing of other nodes' pods.
//
// Threading: pure.

#include <cstddef>
#include <string>
#include <vector>

#include "cluster/state/cluster_snapshot.h"
#include "profile/pod_progress.h"

namespace synergy::controller {

struct BelievedProgress {
  std::vector<PodProgress> pods;  // with the names that the API server gives them
  size_t not_here = 0;            // dropped: no such pod on the node
  size_t not_managed = 0;         // dropped: Synergy does not manage it
};

// `node`: where the agent's pod runs, by the API server.
BelievedProgress Believe(std::vector<PodProgress> told, const std::string& node,
                         const ClusterSnapshot& cluster);

}  // namespace synergy::controller
