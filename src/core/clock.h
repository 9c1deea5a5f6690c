#pragma once

// Passes time as an argument, so that tests and the simulator control it.
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

// Returns `from` + `by`, or the end of time if that comes first.
inline Instant Later(Instant from, Duration by) {
  return by > Duration::zero() && from > Instant::max() - by ? Instant::max() : from + by;
}

// One moment on both clocks, passed to pure decisions instead of a clock.
struct Moment {
  Instant now;    // for deadlines and ages
  WallTime wall;  // for times in objects of the cluster
};

class Clock {
 public:
  virtual ~Clock() = default;

  // Monotonic; continues while the machine is suspended. All deadlines and ages use it.
  virtual Instant Now() const = 0;
  // For times that users and other machines read; it may jump.
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
