#pragma once

// What the controller knows of the progress of the cluster's pods (docs/progress.md).
//
// Threading: values.

#include <string>
#include <vector>

#include "core/clock.h"
#include "profile/pod_progress.h"

namespace synergy {

struct KnownProgress {
  PodProgress pod;
  std::string node;
  WallTime since{};  // when the agent of the node started: it counts iterations from there
  WallTime at{};     // when the controller heard it
  Duration age{};    // how long ago that was when it was read

  bool operator==(const KnownProgress&) const = default;
};

struct ClusterProgress {
  std::vector<KnownProgress> pods;

  bool operator==(const ClusterProgress&) const = default;
};

}  // namespace synergy
