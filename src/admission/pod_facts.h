#pragma once

// What admission has to know of a pod that is about to be created.
//
// Threading: values.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cluster/node_selection.h"
#include "cluster/pod.h"
#include "core/units.h"

namespace synergy::admission {

// A container that asks for GPUs.
struct GpuContainer {
  size_t index = 0;  // in spec.containers
  std::string name;
  Gpus gpus;
  std::optional<MilliCpu> cpu_limit;
};

struct PodFacts {
  std::string pod_namespace;
  std::string scheduler;  // empty: Kubernetes' default
  Labels labels;
  std::vector<GpuContainer> gpu_containers;  // of spec.containers
  NodeSelection selection;
  size_t annotation_bytes = 0;       // keys and values
  bool has_node = false;             // spec.nodeName is set already
  bool mirror = false;               // stands for a static pod
  bool pod_level_resources = false;  // spec.resources
};

}  // namespace synergy::admission
