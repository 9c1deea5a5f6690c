#pragma once

// Time as the rest of the product sees it: handed in, so that tests and the simulator own it.
//
// Threading: a Clock may be used from any thread.

#include <chrono>
#include <stop_token>
#include <utility>

namespace synergy {

using Duration = std::chrono::nanoseconds;
using Seconds = std::chrono::duration<double>;  // for rates and models, where fractions matter
using Instant = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

// One moment by both clocks: what a pure decision is told instead of asking.
struct Moment {
  Instant now;    // for deadlines and ages
  WallTime wall;  // for what objects in the cluster say
};

class Clock {
 public:
  virtual ~Clock() = default;

  // Monotonic, and goes on while the machine is suspended. All deadlines and ages come from it.
  virtual Instant Now() const = 0;
  // For what people and other machines read; it may jump.
  virtual WallTime WallNow() const = 0;
  Moment Present() const { return {Now(), WallNow()}; }
  // Returns true at `deadline`, false as soon as `stop` is requested.
  virtual bool SleepUntil(Instant deadline, std::stop_token stop) const = 0;

  bool SleepFor(Duration duration, std::stop_token stop) const {
    return SleepUntil(Now() + duration, std::move(stop));
  }
};

// The machine's clocks. Lives as long as the process.
const Clock& SystemClock();

}  // namespace synergy
