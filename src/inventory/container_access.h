#pragma once

// Grants a container access to its devices and no others.
//
// Threading: pure.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "inventory/advertisement.h"
#include "inventory/gpu.h"

namespace synergy {

// How a container gets access to its devices.
enum class ContainerAccessKind {
  kEnvironment,  // a variable that NVIDIA's container runtime reads
  kDeviceNodes,  // /dev/nvidia0 and so on, and the variable
  kCdi,          // CDI names
};

struct ContainerAccessRules {
  // A resize may remove devices that are not in a container's own specification.
  ContainerAccessKind kind = ContainerAccessKind::kDeviceNodes;
  std::string variable = "NVIDIA_VISIBLE_DEVICES";
  std::string cdi_kind = "synergy.io/gpu";
  bool one_slice_only = false;  // refuses containers with several slices or turns
};

struct ContainerAccess {
  std::map<std::string, std::string> environment;
  std::vector<std::string> device_nodes;
  std::vector<std::string> cdi_names;
};

// Slices of a GPU give access to that GPU, once. Returns kNotFound if an id is not one of
// `devices`, kUnavailable if a device is unhealthy, and kInvalid if there are no ids, if one is
// requested twice, or if there are more slices than `rules` allow.
Result<ContainerAccess> GrantAccess(const GpuInventory& inventory,
                                    std::span<const GpuDevice> devices,
                                    std::span<const std::string> ids,
                                    const ContainerAccessRules& rules);

}  // namespace synergy
