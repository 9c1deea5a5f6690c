#pragma once

// A clock that moves only when a test moves it.
//
// Threading: from any thread; SleepUntil waits for Advance() or for its stop token, never for real
// time.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <iterator>
#include <mutex>
#include <set>
#include <stop_token>

#include "core/clock.h"

namespace synergy::testing {

class FakeClock final : public Clock {
 public:
  Instant Now() const override {
    const std::lock_guard lock(mutex_);
    return now_;
  }

  WallTime WallNow() const override {
    const std::lock_guard lock(mutex_);
    return wall_;
  }

  bool SleepUntil(Instant deadline, std::stop_token stop) const override {
    std::unique_lock lock(mutex_);
    const auto sleeper = sleepers_.insert(deadline);
    changed_.notify_all();
    changed_.wait(lock, stop, [&] { return now_ >= deadline; });
    sleepers_.erase(sleeper);
    return !stop.stop_requested();
  }

  // Advances both clocks, and wakes the threads whose deadlines have come.
  void Advance(Duration by) {
    const std::lock_guard lock(mutex_);
    now_ += by;
    wall_ += by;
    changed_.notify_all();
  }

  // Sets only the wall clock, as a correction of the time does. Now() does not change.
  void SetWall(WallTime wall) {
    const std::lock_guard lock(mutex_);
    wall_ = wall;
  }

  // Blocks until `count` threads sleep, so that the next Advance() reaches all of them.
  void AwaitSleepers(size_t count) const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return Asleep() >= count; });
  }

  // Blocks until a thread sleeps. Returns the time until the first sleeper wakes.
  Duration AwaitNextWake() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return Asleep() > 0; });
    return *sleepers_.upper_bound(now_) - now_;
  }

 private:
  // Threads past their deadline are awake, even if they have not run yet.
  size_t Asleep() const {
    return static_cast<size_t>(std::distance(sleepers_.upper_bound(now_), sleepers_.end()));
  }

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  mutable std::multiset<Instant> sleepers_;
  // Not zero, so that a missing initialization shows.
  Instant now_{std::chrono::hours(1)};
  WallTime wall_{std::chrono::sys_days{std::chrono::year{2026} / 1 / 2}};
};

}  // namespace synergy::testing
