#pragma once

// Finds where room for a waiting pod costs the least: which tenants of a node to cut, and to what.
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
  double cost = 0;  // throughput lost, in units of one GPU at its fair share
  Tenancy tenancy;
  std::vector<ResourceVector> amounts;  // per tenant; empty: there is room already
};

// Returns the throughput that tenants lose by these amounts, in units of one GPU at its fair share.
double CostOf(const std::vector<Tenant>& tenants, const std::vector<ResourceVector>& amounts);

// Finds the cheapest room on any node for which `considers` is true. Returns nullopt if no cut of
// CPU and memory above the floors makes room.
std::optional<RoomPlan> CheapestRoom(const ClusterSnapshot& snapshot, const Pod& pod,
                                     const TenancyRules& rules,
                                     const std::function<bool(const NodeState&)>& considers);

}  // namespace synergy
