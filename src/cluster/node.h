#pragma once

// A node as the API server describes it. Values; immutable once shared.

#include <cstdint>
#include <string>

#include "cluster/pod.h"
#include "core/resources.h"

namespace synergy {

struct Node {
  std::string name;
  Labels labels;
  Resources allocatable;     // `main.gpus` counts the managed GPU resource
  int64_t pods_allowed = 0;  // allocatable "pods"
  bool unschedulable = false;
  bool deleting = false;
};

}  // namespace synergy
