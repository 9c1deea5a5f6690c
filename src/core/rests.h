#pragma once

// Remembers objects whose attempts fail, so that they do not delay others. An object rests after
// each failure, for twice as long as the last time.
//
// Threading: one owner.

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "core/clock.h"

namespace synergy {

class Rests {
 public:
  static constexpr Duration kLongest = std::chrono::hours(1);

  // Forgets each object that has not failed again for twice the length of its rest. Call it before
  // each pass.
  void Forget(Instant now) {
    std::erase_if(objects_, [now](const auto& each) {
      return now >= each.second.until + 2 * each.second.rest;
    });
  }
  // Returns whether the object rests now.
  bool Has(const std::string& uid, Instant now) const {
    const auto found = objects_.find(uid);
    return found != objects_.end() && now < found->second.until;
  }
  // Begins a rest, and returns how long it is. `least`: the rest after the first failure.
  Duration Failed(const std::string& uid, Instant now, Duration least) {
    Failing& object = objects_[uid];
    object.rest = std::max(least, std::min(2 * object.rest, kLongest));
    object.until = now + object.rest;
    return object.rest;
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

}  // namespace synergy
