#include "controller/preemption/node_guard_keeper.h"

#include <vector>

#include "core/result.h"

namespace synergy::controller {

void NodeGuardKeeper::Step(std::span<const GpuReservation> reservations,
                           const std::stop_token& stop) {
  std::vector<GuardedNode> nodes;
  for (const auto& [name, node] : nodes_.Snapshot()) nodes.push_back(*node);
  std::vector<NodeGuardChange> changes = PlanNodeGuards(reservations, nodes);
  if (changes.size() > kMostWrites) changes.resize(kMostWrites);
  for (const NodeGuardChange& change : changes) {
    if (stop.stop_requested() || !may_act_()) return;
    const Result<> written = api_.Write(change, stop);
    if (written || written.error().code == ErrorCode::kConflict) continue;
    log_.Warn(!change.added.empty() ? "cannot protect a reserved node from scale-down"
                                    : "cannot end a node's protection from scale-down",
              {{"node", change.node}, {"error", written.error().message}});
  }
}

}  // namespace synergy::controller
