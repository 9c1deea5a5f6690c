#pragma once

// Adds the gang-dependent values (InGang of allocation/pod_share.h) to shares of gang members: how
// many GPUs wait for the slowest member, and how fast the members on other nodes are.
//
// Threading: pure.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/pod.h"
#include "engine/tuner/node_shares.h"

namespace synergy {

// Returns the gang's bound members whose amounts may be changed.
std::vector<std::shared_ptr<const Pod>> RunningMembers(const ClusterSnapshot& cluster,
                                                       const std::string& gang);

// Returns what the gang's least member has, scaled to the pod's number of GPUs. `members`: all
// members, including the pod.
ResourceVector LeastOfGang(std::span<const std::shared_ptr<const Pod>> members, const Pod& pod);

// Returns the number of GPUs of all members.
double GpusOfGang(std::span<const std::shared_ptr<const Pod>> members);

// Marks the shares of a node that belong to members of gangs. Does nothing if `rules` has no
// cluster.
void JoinGangs(const ShareRules& rules, NodeShares& node_shares);

}  // namespace synergy
