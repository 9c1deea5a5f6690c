#include "extender/delays.h"

namespace synergy::extender {

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

}  // namespace synergy::extender
