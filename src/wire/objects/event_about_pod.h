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
  std::string component;  // the reporter: "synergy-controller"
  std::string instance;   // the instance of the reporter
  WallTime first;
  WallTime last;
  uint64_t count = 1;
  // "Node": pod_name is the node's name, and pod_namespace is "default", because nodes have no
  // namespace.
  std::string kind = "Pod";
  std::string api_version = "v1";  // of that kind
};

// Returns the body of POST /api/v1/namespaces/{pod_namespace}/events.
std::string WriteEventAboutPod(const EventAboutPod& event);
// Returns the merge patch that records another occurrence in an existing Event.
std::string WriteRepeatedEvent(uint64_t count, WallTime last);

}  // namespace synergy::wire
