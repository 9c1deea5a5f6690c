#pragma once

// A node as the API server describes it. Values; immutable once shared.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/pod.h"
#include "core/resources.h"

namespace synergy {

struct Taint {
  std::string key;
  std::string value;
  std::string effect;

  bool operator==(const Taint&) const = default;
};

// What is known of a node's GPUs beside how many can be had.
struct GpuKinds {
  // status.capacity: more than can be had while some are ill, or while the device plugin is away.
  Gpus installed;
  std::vector<std::string> products;  // as the label nvidia.com/gpu.product spells them
  int64_t most_per_numa_node = 0;     // GPUs that share one; 0: not known

  // Whether there may be GPUs of `product`: it is one of them, or nobody says what they are.
  bool MayHave(std::string_view product) const {
    return products.empty() ||
           std::find(products.begin(), products.end(), product) != products.end();
  }
  bool operator==(const GpuKinds&) const = default;
};

struct Node {
  std::string name;
  Labels labels;
  std::vector<Taint> taints;
  GpuKinds gpu_kinds;
  Resources allocatable;     // `main.gpus` counts the managed GPU resource
  int64_t pods_allowed = 0;  // allocatable "pods"
  bool unschedulable = false;
  bool deleting = false;
  bool short_of_memory = false;  // condition MemoryPressure
  std::string boot_id;  // status.nodeInfo.bootID: another one after each start of the machine

  bool operator==(const Node&) const = default;
};

}  // namespace synergy
