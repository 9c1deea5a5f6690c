#pragma once

// Where room for a waiting pod costs the least: which of its node's tenants would be cut to what.
//
// Threading: pure.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/resources.h"
#include "engine/tuner/tenancy.h"

namespace synergy {

struct RoomPlan {
  NodeIndex node = 0;
  double cost = 0;  // throughput lost, in units of a GPU's at its fair share
  Tenancy tenancy;
  std::vector<ResourceVector> amounts;  // per tenant; empty: there is room already
};

// Returns the throughput that tenants lose by these amounts, in units of a GPU's at its fair share.
double CostOf(const std::vector<Tenant>& tenants, const std::vector<ResourceVector>& amounts);

// None where no cut of CPU and memory above the floors makes room, on any node for which
// `considers` is true.
std::optional<RoomPlan> CheapestRoom(const ClusterSnapshot& snapshot, const Pod& pod,
                                     const TenancyRules& rules,
                                     const std::function<bool(const NodeState&)>& considers);

}  // namespace synergy
