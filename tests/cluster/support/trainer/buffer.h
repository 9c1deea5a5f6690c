#pragma once

// Counts the items between two stages of the loop, at most `capacity`.
//
// Threading: from any thread. Both calls wait, and return false if asked to stop.

#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace synergy::trainer {

class Buffer {
 public:
  explicit Buffer(int capacity) : capacity_(capacity) {}

  bool Put(const std::stop_token& stop) { return Change(stop, 1, capacity_); }
  bool Take(const std::stop_token& stop) { return Change(stop, -1, 0); }

 private:
  // Adds `by` as soon as the count differs from `blocked`.
  bool Change(const std::stop_token& stop, int by, int blocked) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [&] { return count_ != blocked; })) return false;
    count_ += by;
    changed_.notify_all();
    return true;
  }

  const int capacity_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  int count_ = 0;
};

}  // namespace synergy::trainer
