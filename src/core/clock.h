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

// Returns `from` + `by`, or Instant::max() if the sum would overflow.
inline Instant Later(Instant from, Duration by) {
  return by > Duration::zero() && from > Instant::max() - by ? Instant::max() : from + by;
}

// One moment on both clocks. Pure decisions take a Moment instead of a Clock.
struct Moment {
  Instant now;    // for deadlines and ages
  WallTime wall;  // for times in Kubernetes objects
};

class Clock {
 public:
  virtual ~Clock() = default;

  // Returns a monotonic time, which continues while the machine is suspended. All deadlines and
  // ages use it.
  virtual Instant Now() const = 0;
  // Returns the time for users and other machines. It may jump.
  virtual WallTime WallNow() const = 0;
  Moment Present() const { return {Now(), WallNow()}; }
  // Blocks until `deadline`, and returns true. Returns false as soon as `stop` is requested.
  virtual bool SleepUntil(Instant deadline, std::stop_token stop) const = 0;

  bool SleepFor(Duration duration, std::stop_token stop) const {
    return SleepUntil(Now() + duration, std::move(stop));
  }
};

// Returns the machine's clocks, which live as long as the process.
const Clock& SystemClock();

}  // namespace synergy
