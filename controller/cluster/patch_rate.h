#pragma once

// Limits the rate of PATCHes, but allows a small burst after a quiet moment: a token bucket.
//
// Threading: one owner.

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/clock.h"

namespace synergy::controller {

class PatchRate {
 public:
  PatchRate(int64_t per_second, size_t burst)
      : interval_(Duration(std::chrono::seconds(1)) / std::max<int64_t>(per_second, 1)),
        ahead_(interval_ * static_cast<int64_t>(burst > 0 ? burst - 1 : 0)) {}

  // Returns when the next PATCH may be sent; at or before `now` means at once.
  Instant Next() const { return next_ - ahead_; }
  // Records that `patches` PATCHes are being sent.
  void Spend(size_t patches, Instant now) {
    next_ = std::max(next_, now) + interval_ * static_cast<int64_t>(patches);
  }

 private:
  Duration interval_;
  Duration ahead_;
  Instant next_{};
};

}  // namespace synergy::controller
