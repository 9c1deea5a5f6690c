#pragma once

// Records when Synergy's programs last acted on each pod, to explain failures that may follow.
//
// This file is separate because the controller and the node agent record acts, but only one of them
// keeps the cluster's state.
//
// Threading: from any thread. Memory: kMost acts; beyond that, the oldest act is dropped.

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/clock.h"
#include "profile/pod_act.h"

namespace synergy {

class PodActs {
 public:
  static constexpr size_t kMost = 1024;

  void Note(const std::string& uid, std::string_view act, WallTime at);
  // Returns the newest act of each name on the pod.
  std::vector<PodAct> Of(const std::string& uid) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, WallTime> latest_;  // by uid and act
};

}  // namespace synergy
