#pragma once

// Remembers objects whose writes fail, so that they do not delay the writes of other objects. A
// failing write can take ten seconds. So after each failure, the object is not written for a while
// (its rest), which doubles with each failure, up to an hour.
//
// Threading: one owner.

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "core/clock.h"

namespace synergy::kube {

class FailingWrites {
 public:
  static constexpr Duration kLongestRest = std::chrono::hours(1);

  // Forgets each object that has not failed again for twice the length of its rest. Call it before
  // each pass.
  void Forget(Instant now) {
    std::erase_if(objects_, [now](const auto& each) {
      return now >= each.second.until + 2 * each.second.rest;
    });
  }
  bool Rests(const std::string& uid, Instant now) const {
    const auto found = objects_.find(uid);
    return found != objects_.end() && now < found->second.until;
  }
  // `least`: the rest after the first failure.
  void Failed(const std::string& uid, Instant now, Duration least) {
    Failing& object = objects_[uid];
    object.rest = std::min(std::max(least, 2 * object.rest), kLongestRest);
    object.until = now + object.rest;
  }
  void Succeeded(const std::string& uid) { objects_.erase(uid); }
  bool empty() const { return objects_.empty(); }

 private:
  struct Failing {
    Instant until{};
    Duration rest{};
  };

  std::map<std::string, Failing> objects_;  // by uid
};

}  // namespace synergy::kube
