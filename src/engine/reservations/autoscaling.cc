#include "engine/reservations/autoscaling.h"

#include <set>
#include <utility>

namespace synergy {

bool ReportsNewNode(std::string_view reason, std::string_view message) {
  if (reason == kScaleUpReasons[0]) return true;
  return reason == kScaleUpReasons[1] && message.find("nodeclaim/") != std::string_view::npos &&
         message.find(" node/") == std::string_view::npos;
}

bool IsNodeComing(WallTime reported, WallTime now) {
  return std::chrono::abs(now - reported) < kNodeProvisionTime;
}

std::vector<NodeGuardChange> PlanNodeGuards(std::span<const GpuReservation> reservations,
                                            std::span<const GuardedNode> nodes) {
  std::set<std::string_view> reserved;
  for (const GpuReservation& reservation : reservations) {
    for (const GpuReservation::Place& place : reservation.places) reserved.insert(place.node);
  }
  std::vector<NodeGuardChange> changes;
  for (const GuardedNode& node : nodes) {
    const bool is_reserved = reserved.contains(node.name);
    NodeGuardChange change{.node = node.name, .resource_version = node.resource_version};
    for (size_t i = 0; i < kNodeGuards.size(); ++i) {
      if (is_reserved && node.guards[i] == NodeGuard::kNone) change.added.push_back(kNodeGuards[i]);
      if (!is_reserved && node.guards[i] == NodeGuard::kOurs)
        change.removed.push_back(kNodeGuards[i]);
    }
    if (!change.added.empty() || !change.removed.empty()) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace synergy
