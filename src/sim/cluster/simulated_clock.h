#pragma once

// The clock of whoever in the simulation asks for the time.
//
// Threading: one owner.

#include <stop_token>

#include "core/clock.h"

namespace synergy {

class SimulatedClock final : public Clock {
 public:
  explicit SimulatedClock(Moment at) : at_(at) {}

  // Both clocks go on until then; never back.
  void GoOnTo(Instant now) {
    at_.wall += now - at_.now;
    at_.now = now;
  }
  Instant Now() const override { return at_.now; }
  WallTime WallNow() const override { return at_.wall; }
  // Time passes in no call.
  bool SleepUntil(Instant deadline, std::stop_token /*stop*/) const override {
    return deadline <= at_.now;
  }

 private:
  Moment at_;
};

}  // namespace synergy
