#pragma once

// Remembers pods (or other objects, by UID) whose writes fail, so that they do not delay the writes
// of others. A failure can take ten seconds, for which all others wait. So a pod is left alone
// after each failure, for twice as long as the last time.
//
// Threading: one owner.

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "core/clock.h"

namespace synergy::controller {

class FailingPods {
 public:
  static constexpr Duration kLongestRest = std::chrono::hours(1);

  // Forgets pods that have not failed again soon after their rest. Call it before each pass.
  void Forget(Instant now) {
    std::erase_if(
        pods_, [now](const auto& each) { return now >= each.second.until + 2 * each.second.rest; });
  }
  bool Rests(const std::string& uid, Instant now) const {
    const auto found = pods_.find(uid);
    return found != pods_.end() && now < found->second.until;
  }
  // `least`: the rest after the first failure.
  void Failed(const std::string& uid, Instant now, Duration least) {
    Failing& pod = pods_[uid];
    pod.rest = std::min(std::max(least, 2 * pod.rest), kLongestRest);
    pod.until = now + pod.rest;
  }
  void Succeeded(const std::string& uid) { pods_.erase(uid); }
  bool empty() const { return pods_.empty(); }

 private:
  struct Failing {
    Instant until{};
    Duration rest{};
  };

  std::map<std::string, Failing> pods_;  // by uid
};

}  // namespace synergy::controller
