#include "inventory/gpu_busy.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace synergy {

void BusyMeter::Add(const std::map<std::string, std::optional<double>>& utilizations, Moment at) {
  const Duration step = at.now - last_;
  const bool goes_on = step > Duration::zero() && step <= longest_step_;
  std::map<std::string, Busy> now;
  for (const auto& [uuid, utilization] : utilizations) {
    if (!utilization) continue;
    const auto known = gpus_.find(uuid);
    Busy busy{.since = at.wall};
    if (known != gpus_.end() && goes_on) {
      busy = known->second;
      busy.seconds += std::clamp(*utilization, 0.0, 1.0) * Seconds(step).count();
    }
    now.emplace(uuid, busy);
  }
  gpus_ = std::move(now);
  last_ = at.now;
}

std::optional<BusyMeter::Busy> BusyMeter::Of(const std::string& uuid) const {
  const auto found = gpus_.find(uuid);
  return found == gpus_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<ContainerBusy> MeansOfContainers(const std::vector<OwnedBusy>& gpus) {
  struct Sum {
    double seconds = 0;
    WallTime since{};
    int count = 0;
    bool known = true;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Sum> containers;
  for (const OwnedBusy& gpu : gpus) {
    Sum& sum = containers[{gpu.owner->pod_namespace, gpu.owner->pod, gpu.owner->container}];
    sum.known = sum.known && gpu.busy.has_value();
    if (!gpu.busy) continue;
    sum.seconds += gpu.busy->seconds;
    sum.since = std::max(sum.since, gpu.busy->since);
    ++sum.count;
  }
  std::vector<ContainerBusy> means;
  for (const auto& [key, sum] : containers) {
    if (!sum.known) continue;
    const auto& [pod_namespace, pod, container] = key;
    means.push_back({pod_namespace, pod, container, sum.seconds / sum.count, sum.since});
  }
  return means;
}

}  // namespace synergy
