#pragma once

// A node as the API server describes it. Values; immutable once shared.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/pod.h"
#include "core/gpu_amount.h"
#include "core/resources.h"

namespace synergy {

struct Taint {
  std::string key;
  std::string value;
  std::string effect;

  bool operator==(const Taint&) const = default;
};

// Properties of a node's GPUs apart from the allocatable number.
struct GpuKinds {
  // status.capacity: more than allocatable while some are unhealthy, or the device plugin is down.
  Gpus installed;
  std::vector<std::string> products;  // as in the label nvidia.com/gpu.product
  int64_t most_per_numa_node = 0;     // GPUs on one NUMA node; 0: unknown
  // ResourceSlices offer the GPUs, so pods get them through ResourceClaims (docs/dra.md).
  bool by_claim = false;
  bool no_requests = false;    // by_claim is set, and no request of the GPU resource gets them
  Slices slices;               // installed slices of shared GPUs; `installed` does not count those
  int64_t slices_per_gpu = 0;  // 0: unknown, or the node offers no slices

  // Returns whether the node may have GPUs of `product`: its products include it or are unknown.
  bool MayHave(std::string_view product) const {
    return products.empty() ||
           std::find(products.begin(), products.end(), product) != products.end();
  }
  // Returns the product of all GPUs; empty if there are several products or the product is unknown.
  std::string OnlyProduct() const {
    return products.size() == 1 ? products.front() : std::string();
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
  std::string boot_id;           // status.nodeInfo.bootID, which changes with each boot

  bool operator==(const Node&) const = default;
};

}  // namespace synergy
