#pragma once

// Helps with calls of kube-scheduler: their deadlines, request IDs for the calls of one decision,
// and calls that exclude each other.
//
// Threading: any thread.

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <unordered_map>

#include "core/clock.h"

namespace synergy::extender {

// A stop token that fires at a deadline, for calls that must not take longer. The token may outlive
// the Deadline, whose end does not fire it.
class Deadline {
 public:
  // `clock` must outlive this object.
  Deadline(const Clock& clock, Duration within)
      : timer_([this, &clock, end = clock.Now() + within](const std::stop_token& ended) {
          if (clock.SleepUntil(end, ended)) source_.request_stop();
        }) {}

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread timer_;  // last, because it uses the other members
};

// Assigns a request ID to each decision about a pod: it begins at the filter call and is reused for
// prioritize, bind and preempt, so that the log lines of one decision can be read together. Memory:
// the last 4096 pods.
class RequestIds {
 public:
  // Begins a new decision about the pod.
  std::string Begin(const std::string& pod_uid);
  // Returns the ID of the decision in progress; "-" if none is known.
  std::string Current(const std::string& pod_uid) const;

 private:
  static constexpr size_t kLimit = 4096;

  mutable std::mutex mutex_;
  uint64_t last_ = 0;
  std::unordered_map<std::string, uint64_t> by_uid_;
  std::deque<std::string> order_;
};

// Allows one bind of a pod at a time, because kube-scheduler gives up on a slow one and tries again
// while the first is still running. Turns must end before this object does.
class BindTurns {
 public:
  // Returns a turn, which lasts as long as the result; null while another turn lasts.
  std::shared_ptr<const void> Take(const std::string& uid) {
    const std::lock_guard lock(mutex_);
    if (!taken_.insert(uid).second) return nullptr;
    return {this, [uid](BindTurns* turns) {
              const std::lock_guard ending(turns->mutex_);
              turns->taken_.erase(uid);
            }};
  }

 private:
  std::mutex mutex_;
  std::set<std::string> taken_;  // UIDs of pods
};

}  // namespace synergy::extender
