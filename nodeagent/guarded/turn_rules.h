#pragma once

// Decides which pods of a node are suspended now, from the turns that the controller planned
// (cluster/gpu_turn.h) and the state of the pods on the node.
//
// A pod is suspended only if all of these are true: its turn says so, the controller still renews
// the plan, another pod of the plan runs on this node, and the node has no reason to refuse. So an
// outdated turn costs nothing.
//
// Threading: pure.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/gpu_turn.h"
#include "core/clock.h"
#include "wire/objects/resize_status.h"

namespace synergy::nodeagent {

// A container is not suspended if its probe would fail within this time after its processes stop.
inline constexpr Duration kLeastProbePatience = kMostSuspended + std::chrono::seconds(30);
// The least time that a pod runs between two suspensions, whatever its plan.
inline constexpr Duration kLeastTimeBetween = std::chrono::seconds(10);

struct TurnRefusal {
  std::string_view reason;  // a metric's label
  std::string text;         // for users
};

// Returns why a pod must not be suspended, judging by its Pod object; nullopt if it may be.
// `probed`: whether a CPU probe or a burst of the pod is in progress.
std::optional<TurnRefusal> WhyNotSuspended(const wire::ResizeStatus& pod, bool probed);

// A pod of the node.
struct TurnPod {
  const GpuTurn* turn = nullptr;      // null: it takes no turns
  bool runs = false;                  // its training container runs
  bool refused = false;               // by WhyNotSuspended(), or by the kernel
  std::optional<Instant> resumed_at;  // nullopt: it was not suspended
};

// Returns the pods to suspend, by uid, each with the time when its turn begins again.
std::map<std::string, WallTime> PodsToSuspend(const std::map<std::string, TurnPod>& pods,
                                              Moment now);

}  // namespace synergy::nodeagent
