#include "extender/delays.h"

namespace synergy::extender {
namespace {

// A pod without a request for this long waits for something new, or is gone.
constexpr Duration kForgetAfter = std::chrono::minutes(10);

}  // namespace

bool RetryLimiter::Allow(uint64_t version, Instant now,
                         const std::function<bool()>& room_under_way) {
  const std::lock_guard lock(mutex_);
  if (now < next_ || looked_at_ == version) return false;
  next_ = now + times_.rest;
  if (now < next_blind_ && !room_under_way()) return false;
  next_blind_ = now + times_.long_rest;
  looked_at_ = version;
  return true;
}

bool PreemptionDelay::Lasts(const std::string& uid, Instant now) {
  const std::lock_guard lock(mutex_);
  std::erase_if(asked_,
                [now](const auto& entry) { return now - entry.second.last > kForgetAfter; });
  Asked& asked = asked_.try_emplace(uid, Asked{now, now}).first->second;
  asked.last = now;
  return now - asked.first < limit_;
}

}  // namespace synergy::extender
