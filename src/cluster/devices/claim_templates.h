#pragma once

// ResourceClaimTemplates (resource.k8s.io/v1): what pods get by claims that do not exist yet.
//
// Apart because only admission needs it. Threading: values; pure.

#include <optional>
#include <string>
#include <vector>

#include "cluster/devices/device_objects.h"
#include "core/units.h"

namespace synergy {

struct ResourceClaimTemplate {
  std::string pod_namespace;
  std::string name;
  std::vector<DeviceRequest> requests;  // of the claims made from it

  std::string Key() const { return pod_namespace + "/" + name; }
};

// Returns the GPUs that a claim with these requests gets, at most DeviceBook::kMostOfPod; none if
// that is open until it is allocated (allocationMode All, firstAvailable).
std::optional<Gpus> ExactGpus(const std::vector<DeviceRequest>& requests, const DeviceRules& rules);

}  // namespace synergy
