#pragma once

// core/v1 Events about pods, nodes and jobs, as `kubectl describe` shows them.
//
// Threading: pure.

#include <cstdint>
#include <string>

#include "core/clock.h"

namespace synergy::wire {

struct EventAboutPod {
  std::string name;  // of the Event itself, unique in its namespace
  std::string pod_namespace;
  std::string pod_name;
  std::string pod_uid;
  std::string type;  // "Normal" or "Warning"
  std::string reason;
  std::string message;
  std::string component;  // who says it: "synergy-controller"
  std::string instance;   // which of them
  WallTime first;
  WallTime last;
  uint64_t count = 1;
  // "Node": pod_name is the node's, pod_namespace "default", for nodes have none.
  std::string kind = "Pod";
  std::string api_version = "v1";  // of that kind
};

// The body of POST /api/v1/namespaces/{pod_namespace}/events.
std::string WriteEventAboutPod(const EventAboutPod& event);
// The merge patch by which an Event that is there already says that it happened again.
std::string WriteRepeatedEvent(uint64_t count, WallTime last);

}  // namespace synergy::wire
