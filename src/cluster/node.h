#pragma once

// A node as the API server describes it. Values; immutable once shared.

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/pod.h"
#include "core/resources.h"

namespace synergy {

struct Taint {
  std::string key;
  std::string value;
  std::string effect;
};

struct Node {
  std::string name;
  Labels labels;
  std::vector<Taint> taints;
  Resources allocatable;     // `main.gpus` counts the managed GPU resource
  int64_t pods_allowed = 0;  // allocatable "pods"
  bool unschedulable = false;
  bool deleting = false;
};

}  // namespace synergy
