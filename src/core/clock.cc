#include "core/clock.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <time.h>

namespace synergy {
namespace {

constexpr Duration kLongestWait = std::chrono::seconds(5);

class RealClock final : public Clock {
 public:
  Instant Now() const override {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return Instant(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
  }
  WallTime WallNow() const override { return std::chrono::system_clock::now(); }
  bool SleepUntil(Instant deadline, std::stop_token stop) const override {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    // Waits in short steps, because the clock of wait_for stops while the machine is suspended.
    while (!stop.stop_requested() && Now() < deadline)
      wake.wait_for(lock, stop, std::min<Duration>(deadline - Now(), kLongestWait),
                    [] { return false; });
    return !stop.stop_requested();
  }
};

}  // namespace

const Clock& SystemClock() {
  static const RealClock clock;
  return clock;
}

}  // namespace synergy
