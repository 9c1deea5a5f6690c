#pragma once

// Reads GPUs from a YAML file, for tests, simulations, and machines whose driver cannot report
// them. The file may be edited while the device plugin runs, mostly to change health.
//
//   driverVersion: "550.54"              # optional, like all but uuid and product
//   sharedDeviceNodes: [/dev/nvidiactl]  # needed by every container with a GPU
//   nvlinks: 12                          # between every two GPUs (NVSwitch)
//   gpus:
//   - uuid: GPU-0
//     product: NVIDIA A100-SXM4-80GB
//     memory: 80Gi
//     numaNode: 0
//     pciId: "0000:3b:00.0"
//     computeCapability: "8.0"
//     deviceNodes: [/dev/nvidia0]
//     unhealthy: fan broken              # the reason; absent or empty: healthy
//     migDevices:                        # if present: MIG mode; additional device nodes
//     - {uuid: MIG-0, profile: 1g.10gb, memory: 10Gi, deviceNodes: [/dev/nvidia-caps/nvidia-cap3]}
//   links:                               # exceptions to the above
//   - {between: [GPU-0, GPU-1], path: single-switch, nvlinks: 0}
//
// Threading: pure, except for reading the file.
// Failures: kInvalid with file, line and field; kNotFound if the file cannot be read. Counts and
// lengths are bounded.

#include <map>
#include <string>

#include "core/result.h"
#include "inventory/gpu.h"

namespace synergy::config {

struct InventoryFile {
  GpuInventory inventory;
  std::map<std::string, std::string> unhealthy;  // UUID -> reason

  bool operator==(const InventoryFile&) const = default;
};

Result<InventoryFile> LoadInventoryFile(const std::string& file);
// `name` is the file's name in errors.
Result<InventoryFile> ParseInventoryFile(const std::string& yaml, const std::string& name);

}  // namespace synergy::config
