#include "cluster/devices/device_objects.h"

#include <algorithm>

namespace synergy {

bool DeviceRules::IsGpuClass(std::string_view name) const {
  return std::find(classes.begin(), classes.end(), name) != classes.end();
}

RequestedDevices GpusOf(const std::vector<DeviceRequest>& requests, const DeviceRules& rules) {
  RequestedDevices found;
  for (const DeviceRequest& request : requests) {
    if (request.admin_access) continue;
    const bool is_gpu = rules.IsGpuClass(request.device_class);
    if (request.count == 0 && (is_gpu || request.device_class.empty())) found.open = true;
    if (!is_gpu) continue;
    const Gpus gpus = std::clamp(Gpus(request.count), Gpus(0), kMostClaimedGpus);
    found.gpus = std::min(found.gpus + gpus, kMostClaimedGpus);
  }
  return found;
}

}  // namespace synergy
