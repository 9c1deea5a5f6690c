#pragma once

// A pod as its HTTP clients see it: where it runs and whether it is ready.
//
// Threading: values. Read by ObjectReader (objects.h).

#include <string>

namespace synergy::wire {

struct AgentPod {
  std::string uid;
  std::string node;     // empty: none yet
  std::string address;  // status.podIP; empty: none yet
  bool ready = false;   // and not being deleted
};

}  // namespace synergy::wire
