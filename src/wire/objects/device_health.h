#pragma once

// The health of a pod's devices, as the kubelet reports it
// (status.containerStatuses[].allocatedResourcesStatus, feature gate ResourceHealthStatus, on by
// default since Kubernetes 1.36).
//
// Threading: values; pure.
//
// Apart because only the command line reads it.

#include <string>
#include <string_view>
#include <vector>

namespace synergy::wire {

// A device that is not healthy.
struct UnhealthyDevice {
  std::string container;
  std::string resource;  // "nvidia.com/gpu"; for a claim "claim:NAME/REQUEST"
  std::string id;
  std::string health;   // the kubelet's word: "Unhealthy", "Unknown", or one of newer kubelets
  std::string message;  // the driver's own; empty: none

  bool operator==(const UnhealthyDevice&) const = default;
};

// Reads the unhealthy devices of the pod in this text, in its order. Ignores malformed entries.
std::vector<UnhealthyDevice> ReadUnhealthyDevices(std::string_view pod);

}  // namespace synergy::wire
