#pragma once

// Calls of kube-scheduler: their deadlines, the calls of one decision, and calls that exclude each
// other.
//
// Threading: from any thread.

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
  // `clock` outlives this object.
  Deadline(const Clock& clock, Duration within)
      : timer_([this, &clock, end = clock.Now() + within](const std::stop_token& ended) {
          if (clock.SleepUntil(end, ended)) source_.request_stop();
        }) {}

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread timer_;  // last: it uses the other members
};

// A request ID per decision about a pod: assigned at its filter call and reused at prioritize, bind
// and preempt, so that the log lines of one decision can be read together.
// Memory: the last 4096 pods.
class RequestIds {
 public:
  // Begins a new decision on the pod.
  std::string Begin(const std::string& pod_uid);
  // The decision in progress; "-" if none is known.
  std::string Current(const std::string& pod_uid) const;

 private:
  static constexpr size_t kLimit = 4096;

  mutable std::mutex mutex_;
  uint64_t last_ = 0;
  std::unordered_map<std::string, uint64_t> by_uid_;
  std::deque<std::string> order_;
};

// Allows one bind of a pod at a time: kube-scheduler gives up on a slow one and tries again while
// the first is still running. Turns end before this object does.
class BindTurns {
 public:
  // The turn lasts as long as the result; null while another lasts.
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
