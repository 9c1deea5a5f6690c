#pragma once

// A pod as whoever calls it sees it: where it runs and whether it answers.
//
// Threading: values. Read by ObjectReader (objects.h).

#include <string>

namespace synergy::wire {

struct AgentPod {
  std::string uid;
  std::string node;     // empty: none yet
  std::string address;  // status.podIP; empty: none yet
  bool ready = false;   // and not leaving
};

}  // namespace synergy::wire
