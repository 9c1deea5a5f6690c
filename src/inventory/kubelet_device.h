#pragma once

// Names devices as the kubelet does.
//
// Threading: values.

#include <string>
#include <string_view>

#include "inventory/gpu.h"

namespace synergy {

// Device plugins that share a GPU append the slice's number to its id: "GPU-...::3".
inline constexpr std::string_view kSliceMark = "::";

// Returns the id of the GPU or MIG device that this device is, or is a slice of.
inline std::string_view WithoutSlice(std::string_view id) {
  return id.substr(0, id.find(kSliceMark));
}

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
