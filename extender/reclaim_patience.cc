#include "extender/reclaim_patience.h"

namespace synergy::extender {
namespace {

// Who has not asked for so long waits for something new, or is gone.
constexpr Duration kForgetAfter = std::chrono::minutes(10);

}  // namespace

bool ReclaimPatience::Lasts(const std::string& uid, Instant now) {
  const std::lock_guard lock(mutex_);
  std::erase_if(asked_,
                [now](const auto& entry) { return now - entry.second.last > kForgetAfter; });
  Asked& asked = asked_.try_emplace(uid, Asked{now, now}).first->second;
  asked.last = now;
  return now - asked.first < limit_;
}

}  // namespace synergy::extender
