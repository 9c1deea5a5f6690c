#pragma once

// Decides which pods of a node are suspended now, by the turns that the controller has planned
// (cluster/gpu_turn.h) and by what the node sees of the pods.
//
// A pod is suspended only if all of this holds: its turn says so; the plan is renewed; another pod
// of the plan runs on this node; the node has no reason to refuse it. So a turn that is outdated
// costs nothing.
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

// A container whose probe fails within this time after its processes stop is not suspended.
inline constexpr Duration kLeastProbePatience = kMostSuspended + std::chrono::seconds(30);
// The least time that a pod runs between two suspensions, whatever its plan.
inline constexpr Duration kLeastTimeBetween = std::chrono::seconds(10);

struct TurnRefusal {
  std::string_view reason;  // a label of a metric
  std::string text;         // for users
};

// Returns why a pod must not be suspended by what the cluster says of it; nullopt if it may.
// `probed`: a CPU probe or a burst is under way.
std::optional<TurnRefusal> WhyNotSuspended(const wire::ResizeStatus& pod, bool probed);

// A pod of the node.
struct TurnPod {
  const GpuTurn* turn = nullptr;       // null: it takes no turns
  bool runs = false;                   // its training container does
  bool refused = false;                // by WhyNotSuspended(), or by the kernel
  std::optional<WallTime> resumed_at;  // nullopt: it was not suspended
};

// Returns the pods to suspend, by uid, each with the time at which its turn begins again.
std::map<std::string, WallTime> PodsToSuspend(const std::map<std::string, TurnPod>& pods,
                                              WallTime now);

}  // namespace synergy::nodeagent
