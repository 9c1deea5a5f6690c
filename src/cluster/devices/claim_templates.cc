#include "cluster/devices/claim_templates.h"

#include <algorithm>
#include <cstdint>

#include "cluster/devices/device_book.h"

namespace synergy {

std::optional<Gpus> ExactGpus(const std::vector<DeviceRequest>& requests,
                              const DeviceRules& rules) {
  int64_t gpus = 0;
  for (const DeviceRequest& request : requests) {
    if (request.admin_access) continue;
    const bool is_gpu = std::find(rules.classes.begin(), rules.classes.end(),
                                  request.device_class) != rules.classes.end();
    const bool may_be_gpus = is_gpu || request.device_class.empty();
    if (request.count == 0 && may_be_gpus) return std::nullopt;
    if (!is_gpu) continue;
    gpus = std::min(gpus + std::clamp<int64_t>(request.count, 0, DeviceBook::kMostOfPod),
                    DeviceBook::kMostOfPod);
  }
  return Gpus(gpus);
}

}  // namespace synergy
