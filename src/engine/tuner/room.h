#pragma once

// Finds where room for a waiting pod costs least: which shares of a node to cut, and to which
// amounts. Also finds room ahead for jobs with GPU reservations.
//
// Threading: pure.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/resources.h"
#include "engine/reservations/gpu_reservations.h"
#include "engine/tuner/node_shares.h"

namespace synergy {

struct RoomPlan {
  NodeIndex node = 0;
  double cost = 0;  // throughput lost, in units of one GPU at its fair share
  NodeShares node_shares;
  std::vector<ResourceVector> amounts;  // per share; empty: there is already room
};

// Returns the throughput that shares lose with these amounts, in units of one GPU at its fair
// share.
double CostOf(const std::vector<PodShare>& shares, const std::vector<ResourceVector>& amounts);

// Finds the cheapest room on any node for which `considers` returns true. A place that is kept for
// the pod counts as room. Returns nullopt if no cut of CPU and memory above the floors makes room.
std::optional<RoomPlan> CheapestRoom(const ClusterSnapshot& snapshot, const Pod& pod,
                                     const ShareRules& rules,
                                     const std::function<bool(const NodeState&)>& considers);

// Finds the cheapest cuts on the node that leave CPU and memory for the jobs with these
// reservations, once the jobs that they wait for are gone. Pods of the awaited jobs are not cut,
// because they will free their amounts anyway. A job that has a pod or a kept place on the node
// needs no more. Returns nullopt if no cuts above the floors suffice.
std::optional<RoomPlan> RoomAhead(const ClusterSnapshot& snapshot, NodeIndex node,
                                  const std::vector<const GpuReservation*>& reservations,
                                  const ShareRules& rules);

}  // namespace synergy
