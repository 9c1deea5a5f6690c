#pragma once

// Simulates a device, such as a GPU or storage, that works while the program waits. Its work is
// only time that passes.
//
// The program may run ahead of it, as with CUDA's streams and read-ahead: so a process that a CPU
// quota stops for most of each 100 ms still keeps the device busy. On average the device never
// exceeds its speed. A synchronous device makes the program wait for each piece, like a loop that
// reads its loss after every step.
//
// Threading: Work() and SetPiece() by one thread; finished() by any.

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

namespace synergy::trainer {

class Device {
 public:
  using Duration = std::chrono::nanoseconds;

  // `piece`: how long one piece of work takes.
  explicit Device(Duration piece, bool synchronous = false)
      : piece_(piece), run_ahead_(synchronous ? Duration::zero() : kRunAhead) {}

  // Adds one piece, and returns when the device is not further behind than allowed. With `spin` the
  // wait uses a whole core, as CUDA's and NCCL's waits do.
  void Work(const std::stop_token& stop, bool spin = false) {
    std::unique_lock lock(mutex_);
    ++given_;
    done_at_ = std::max(done_at_, Clock::now()) + piece_;
    const Clock::time_point until = done_at_ - run_ahead_;
    if (!spin) {
      changed_.wait_until(lock, stop, until, [] { return false; });
      return;
    }
    lock.unlock();
    while (Clock::now() < until && !stop.stop_requested()) {
    }
  }

  // Sets how long each further piece takes.
  void SetPiece(Duration piece) {
    const std::lock_guard lock(mutex_);
    piece_ = piece;
  }

  // Returns the number of finished pieces.
  uint64_t finished() const {
    const std::lock_guard lock(mutex_);
    const Duration behind = std::max(Duration::zero(), Duration(done_at_ - Clock::now()));
    return given_ - static_cast<uint64_t>((behind + piece_ - Duration(1)) / piece_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  // Longer than the period of a CPU quota, which is 100 ms everywhere.
  static constexpr Duration kRunAhead = std::chrono::milliseconds(150);

  Duration piece_;
  const Duration run_ahead_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  Clock::time_point done_at_{};
  uint64_t given_ = 0;
};

}  // namespace synergy::trainer
