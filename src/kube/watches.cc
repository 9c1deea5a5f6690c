#include "kube/watches.h"

#include <algorithm>

namespace synergy::kube {

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
