#include "kube/watches.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace synergy::kube {

Health::Health(std::vector<WatchedResource> resources, const Clock& clock,
               std::chrono::milliseconds staleness_limit)
    : resources_(std::move(resources)), clock_(clock), staleness_limit_(staleness_limit) {}

std::string Health::NotReadyReason() const {
  if (stopping_) return "shutting down";
  for (const WatchedResource& resource : resources_) {
    const ReflectorStatus status = resource.status();
    if (!status.synced) return fmt::format("{} have not been listed yet", resource.name);
    const Duration age = clock_.Now() - status.last_contact;
    if (age <= staleness_limit_) continue;
    return fmt::format("no response on {} for {} s", resource.name,
                       std::chrono::floor<std::chrono::seconds>(age).count());
  }
  return {};
}

Watches::Watches(ApiClient& client, wire::ObjectReader reader,
                 std::chrono::milliseconds staleness_limit, const Clock& clock, Logger& log)
    : client_(client),
      reader_(std::move(reader)),
      staleness_limit_(staleness_limit),
      clock_(clock),
      log_(log),
      seed_(static_cast<uint64_t>(clock.WallNow().time_since_epoch().count())) {}

bool Watches::Complete() const {
  return std::all_of(resources_.begin(), resources_.end(),
                     [](const WatchedResource& resource) { return resource.status().synced; });
}

bool Watches::Current() const {
  return std::all_of(resources_.begin(), resources_.end(), [](const WatchedResource& resource) {
    const ReflectorStatus status = resource.status();
    return status.synced && !status.broken;
  });
}

}  // namespace synergy::kube
