#pragma once

// Adapts reservations to clusters with a node autoscaler. A job needs no reservation while the
// autoscaler creates nodes for it. The autoscaler must not remove nodes with reserved GPUs, which
// may be idle until all reserved GPUs are free.
//
// Threading: pure.

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "engine/reservations/gpu_reservations.h"

namespace synergy {

// The reasons of the events with which cluster-autoscaler and Karpenter report that they create a
// node for a pod.
inline constexpr std::array<std::string_view, 2> kScaleUpReasons = {"TriggeredScaleUp",
                                                                    "Nominated"};

// How long to expect a new node. By default, both autoscalers give up after this time
// (--max-node-provision-time, and the registration of a NodeClaim).
inline constexpr Duration kNodeProvisionTime = std::chrono::minutes(15);

// Returns whether the event reports a node that does not exist yet. Karpenter nominates pods to
// existing nodes by an event of the same reason: "Pod should schedule on: nodeclaim/a, node/b".
bool ReportsNewNode(std::string_view reason, std::string_view message);

// Returns whether a node that an event announced at `reported` may still join.
bool IsNodeComing(WallTime reported, WallTime now);

// The annotations that, if "true", prevent cluster-autoscaler and Karpenter from removing a node.
inline constexpr std::array<std::string_view, 2> kNodeGuards = {
    "cluster-autoscaler.kubernetes.io/scale-down-disabled", "karpenter.sh/do-not-disrupt"};

enum class NodeGuard : uint8_t {
  kNone,
  kOurs,    // written by Synergy
  kOthers,  // written by another client, whatever its value
};

// A node's guards, in the order of kNodeGuards.
struct GuardedNode {
  std::string name;
  std::string resource_version;
  std::array<NodeGuard, kNodeGuards.size()> guards{};

  const std::string& Key() const { return name; }
  bool operator==(const GuardedNode&) const = default;
};

// Guards to write on a node, and to remove from it.
struct NodeGuardChange {
  std::string node;
  std::string resource_version;  // of the node when the change was planned
  std::vector<std::string_view> added;
  std::vector<std::string_view> removed;

  bool operator==(const NodeGuardChange&) const = default;
};

// Returns changes that give the nodes of reservations all guards, and remove Synergy's guards from
// other nodes. Never changes guards of other clients. The changes are ordered by node. `nodes`: all
// known nodes.
std::vector<NodeGuardChange> PlanNodeGuards(std::span<const GpuReservation> reservations,
                                            std::span<const GuardedNode> nodes);

}  // namespace synergy
