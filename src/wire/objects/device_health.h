#pragma once

// The health of a pod's devices, as the kubelet reports it
// (status.containerStatuses[].allocatedResourcesStatus, feature gate ResourceHealthStatus, on by
// default since Kubernetes 1.36).
//
// Threading: values; pure.
//
// This file is separate because only the command line reads it.

#include <string>
#include <string_view>
#include <vector>

namespace synergy::wire {

// An unhealthy device.
struct UnhealthyDevice {
  std::string container;
  std::string resource;  // "nvidia.com/gpu"; for a claim "claim:NAME/REQUEST"
  std::string id;
  std::string health;   // as the kubelet reports it: "Unhealthy", "Unknown", or a newer word
  std::string message;  // the driver's message; empty: none

  bool operator==(const UnhealthyDevice&) const = default;
};

// Reads the unhealthy devices of a pod from its JSON text, in the order of the text. Ignores
// malformed entries.
std::vector<UnhealthyDevice> ReadUnhealthyDevices(std::string_view pod);

}  // namespace synergy::wire
