#pragma once

// Determines which container has which device of an exporter. The kubelet reports the IDs of each
// container's devices, but device plugins form these IDs differently:
//
//   id                    plugin                             device
//   GPU-<uuid>            NVIDIA's, Synergy's                by its UUID
//   GPU-<uuid>::2         NVIDIA's, a share                  by its UUID, shared
//   MIG-<uuid>            NVIDIA's, Synergy's                not named by the exporter, see below
//   nvidia0               GKE's                              by the driver's name
//   nvidia0/gi3           GKE's, MIG                         instance 3 of nvidia0
//   nvidia0/vgpu1         GKE's, a share                     by the driver's name, shared
//
// The exporter does not report the UUIDs of MIG devices. So a container's MIG devices are those for
// which the exporter names the container, if the kubelet reports the same number of MIG devices for
// it.
//
// Threading: pure.

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/gpu_busy.h"
#include "inventory/kubelet_device.h"
#include "nodeagent/gpus/dcgm_page.h"

namespace synergy::nodeagent {

struct OwnedGpu {
  const DeviceOwner* owner = nullptr;
  const DcgmDevice* device = nullptr;  // null: unknown
  bool shared = false;                 // other containers may also use it
};

// Returns an entry for each GPU of `owners`: devices of `gpu_resource` and of NVIDIA's resources.
// The result refers to both arguments.
std::vector<OwnedGpu> MatchOwners(const std::vector<DeviceOwner>& owners,
                                  const std::vector<DcgmDevice>& devices,
                                  std::string_view gpu_resource);

// Returns the pods, as NAMESPACE/NAME, that share a GPU or a MIG device with other pods.
std::set<std::string> PodsThatShareGpus(const std::vector<DeviceOwner>& owners,
                                        std::string_view gpu_resource);

// Returns the busy times of the containers. Omits a container if one of its GPUs is unknown or
// shared, because the container's own use is then unknown. `meter` identifies devices by their
// keys.
std::vector<ContainerBusy> BusyOfContainers(const std::vector<OwnedGpu>& owned,
                                            const BusyMeter& meter);

}  // namespace synergy::nodeagent
