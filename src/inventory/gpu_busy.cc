#include "inventory/gpu_busy.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace synergy {
namespace {

// The driver's figure covers the last second or less, so it does not represent a long time.
constexpr Duration kLongestStep = std::chrono::seconds(5);

}  // namespace

void BusyMeter::Add(const std::map<std::string, std::optional<double>>& utilizations, Moment at) {
  const Duration step = at.now - last_;
  const bool goes_on = step > Duration::zero() && step <= kLongestStep;
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

}  // namespace synergy
