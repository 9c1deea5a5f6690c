#include "core/backoff.h"

namespace synergy {

Duration Backoff::Next() {
  const Duration half = step_ / 2;
  const Duration wait =
      half +
      Duration(static_cast<Duration::rep>(random_.Below(static_cast<uint64_t>(half.count()) + 1)));
  step_ = step_ > limit_ / 2 ? limit_ : step_ * 2;
  return wait;
}

}  // namespace synergy
