#pragma once

// Adds the values that depend on the gang (InGang of allocation/pod_share.h) to the shares of its
// members, such as the speed of the members on other nodes.
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

// Returns the least CPU and the least memory of any member, scaled to the pod's number of GPUs.
// `members`: all members, including the pod.
ResourceVector LeastOfGang(std::span<const std::shared_ptr<const Pod>> members, const Pod& pod);

// Returns the number of GPUs of all members.
double GpusOfGang(std::span<const std::shared_ptr<const Pod>> members);

// Sets PodShare::gang in the shares of gang members. Does nothing if `rules.cluster` is null.
void JoinGangs(const ShareRules& rules, NodeShares& node_shares);

}  // namespace synergy
