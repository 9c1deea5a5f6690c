#pragma once

// Calls of kube-scheduler: how long one may take, which belong to one decision, which wait for each
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

// A stop token that fires at a moment, for calls that must not take longer than until then. The
// token may be used after the deadline's own end, too, which does not fire it.
class Deadline {
 public:
  // `clock` outlives this.
  Deadline(const Clock& clock, Duration within)
      : timer_([this, &clock, end = clock.Now() + within](const std::stop_token& ended) {
          if (clock.SleepUntil(end, ended)) source_.request_stop();
        }) {}

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::jthread timer_;  // last: it uses the rest
};

// A request id per decision about a pod: given at its filter call, found again at prioritize, bind
// and preempt, so that the log lines of one decision can be read together.
// Memory: the last 4096 pods.
class DecisionIds {
 public:
  // A new decision on the pod begins.
  std::string Begin(const std::string& pod_uid);
  // The decision under way; "-" when none is known.
  std::string Current(const std::string& pod_uid) const;

 private:
  static constexpr size_t kLimit = 4096;

  mutable std::mutex mutex_;
  uint64_t last_ = 0;
  std::unordered_map<std::string, uint64_t> by_uid_;
  std::deque<std::string> order_;
};

// Lets one bind of a pod run at a time: kube-scheduler gives a slow one up and asks again while the
// first is still under way.
// Turns end before this does.
class BindTurns {
 public:
  // Lasts as long as what is returned; null while another lasts.
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
  std::set<std::string> taken_;  // pods' uids
};

}  // namespace synergy::extender
