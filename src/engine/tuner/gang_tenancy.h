#pragma once

// What hangs on tenants that are members of gangs (InGang of allocation/tenant.h): how many GPUs
// wait for the slowest, and how fast those are that are elsewhere.
//
// Threading: pure.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cluster/pod.h"
#include "engine/tuner/tenancy.h"

namespace synergy {

// The gang's bound members of which something may be changed.
std::vector<std::shared_ptr<const Pod>> RunningMembers(const ClusterSnapshot& cluster,
                                                       const std::string& gang);

// What the gang's least member has, for as many GPUs as the pod has; `members` are all, the pod
// among them.
ResourceVector LeastOfGang(std::span<const std::shared_ptr<const Pod>> members, const Pod& pod);

// The GPUs of all of them.
double GpusOfGang(std::span<const std::shared_ptr<const Pod>> members);

// Makes the members of gangs among a node's tenants known as such. Without effect where the rules
// know no cluster.
void JoinGangs(const TenancyRules& rules, Tenancy& tenancy);

}  // namespace synergy
