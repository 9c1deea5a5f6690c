#pragma once

// Exponential backoff with jitter: each wait is uniform in [step/2, step], and the step doubles up
// to a limit.
//
// This file is separate because programs of every kind retry.
//
// Threading: one owner at a time.

#include <algorithm>
#include <cstdint>

#include "core/clock.h"
#include "core/random.h"

namespace synergy {

class Backoff {
 public:
  // A limit below the first step also bounds the first step.
  Backoff(Duration first, Duration limit, uint64_t seed)
      : first_(std::min(first, limit)), limit_(limit), step_(first_), random_(seed) {}

  // Returns how long to wait before the next try.
  Duration Next();
  // Returns to the first step. Call it after a success.
  void Reset() { step_ = first_; }

 private:
  Duration first_;
  Duration limit_;
  Duration step_;
  Random random_;
};

}  // namespace synergy
