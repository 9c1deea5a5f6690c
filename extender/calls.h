#pragma once

// Helps with calls of kube-scheduler: request IDs for the calls of one decision, and calls that
// exclude each other.
//
// Threading: any thread.

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>

namespace synergy::extender {

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
