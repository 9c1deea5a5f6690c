#pragma once

// Devices as the kubelet names them.
//
// Threading: values.

#include <string>

#include "inventory/gpu.h"

namespace synergy {

// A device of a device plugin.
struct KubeletDevice {
  std::string resource;  // "nvidia.com/gpu"
  std::string id;        // the plugin's name for it, usually a GPU's UUID
  int numa_node = kNoNuma;

  bool operator==(const KubeletDevice&) const = default;
};

// A device that a container has.
struct DeviceOwner {
  std::string resource;
  std::string device;
  std::string pod_namespace;
  std::string pod;
  std::string container;
  int numa_node = kNoNuma;

  bool operator==(const DeviceOwner&) const = default;
};

}  // namespace synergy
