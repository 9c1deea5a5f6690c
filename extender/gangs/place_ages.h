#pragma once

// How long places have been held for pods that are not bound: a bind in doubt, or a place that the
// tuner keeps, which lasts for long takes room from others.
//
// Threading: from any thread. To within the time between two looks.

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"

namespace synergy::extender {

class PlaceAges {
 public:
  struct Held {
    size_t places = 0;
    Duration oldest{};
  };

  // To be called every second or so with what is held then.
  void Look(const std::vector<HeldPlace>& held, Instant now);
  Held Of(HeldPlace::Kind kind, Instant now) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, HeldPlace::Kind>, Instant> since_;  // by uid
};

}  // namespace synergy::extender
