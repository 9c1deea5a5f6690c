#pragma once

// A request id per decision about a pod: given at its filter call, found again at prioritize, bind
// and preempt, so that the log lines of one decision can be read together.
//
// Threading: from any thread. Memory: the last 4096 pods.

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>

namespace synergy::extender {

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

}  // namespace synergy::extender
