#pragma once

// Support for the calls of kube-scheduler: request IDs for the calls of one decision, and mutual
// exclusion of a pod's binds.
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

// Assigns a request ID to each decision about a pod, so that the log lines of one decision can be
// read together. The filter call begins a decision; prioritize, bind and preempt reuse its ID.
// Stores the IDs of the last 4096 pods.
class RequestIds {
 public:
  // Begins a new decision about the pod and returns its ID.
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

// Allows one bind of a pod at a time, because kube-scheduler gives up on a slow bind and tries
// again while the first is still running. Must outlive the turns that it returns.
class BindTurns {
 public:
  // Returns the pod's turn, which ends when the last copy of the pointer is destroyed; null if
  // another turn of the pod has not ended.
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
