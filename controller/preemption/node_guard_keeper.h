#pragma once

// Protects reserved nodes from scale-down (PlanNodeGuards() of engine/reservations/autoscaling.h)
// until their reservation ends. A new leader removes protection that an earlier leader left on
// nodes.
//
// This file is separate because it writes Nodes, which only clusters with an autoscaler allow.
//
// Threading: one owner; the watch writes nodes().
// Failures: a failed write is repeated in the next step.

#include <cstddef>
#include <functional>
#include <span>
#include <stop_token>
#include <utility>

#include "controller/cluster/keyed_store.h"
#include "core/log.h"
#include "engine/reservations/autoscaling.h"
#include "kube/apis/node_guard_api.h"

namespace synergy::controller {

class NodeGuardKeeper {
 public:
  static constexpr size_t kMostWrites = 20;  // per step

  // All references must outlive this object. `may_act` is checked before each call.
  NodeGuardKeeper(kube::NodeGuardApi& api, std::function<bool()> may_act, Logger& log)
      : api_(api), may_act_(std::move(may_act)), log_(log) {}

  KeyedStore<GuardedNode>& nodes() { return nodes_; }
  // Call it every few seconds while the nodes can be seen.
  void Step(std::span<const GpuReservation> reservations, const std::stop_token& stop);

 private:
  kube::NodeGuardApi& api_;
  const std::function<bool()> may_act_;
  Logger& log_;
  KeyedStore<GuardedNode> nodes_;
};

}  // namespace synergy::controller
