#pragma once

// The clock that the simulated components read.
//
// Threading: one owner.

#include <stop_token>

#include "core/clock.h"

namespace synergy {

class SimulatedClock final : public Clock {
 public:
  explicit SimulatedClock(Moment at) : at_(at) {}

  // Advances both clocks to `now`; they never go back.
  void GoOnTo(Instant now) {
    at_.wall += now - at_.now;
    at_.now = now;
  }
  Instant Now() const override { return at_.now; }
  WallTime WallNow() const override { return at_.wall; }
  // Calls take no time.
  bool SleepUntil(Instant deadline, std::stop_token /*stop*/) const override {
    return deadline <= at_.now;
  }

 private:
  Moment at_;
};

}  // namespace synergy
