#pragma once

// Counts the members of a gang at one moment.
//
// This file is separate because the count depends only on the cluster, and not on what gangs hold.
//
// Threading: values.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cluster/gang.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_state.h"

namespace synergy {

struct GangMembership {
  // `succeeded`: how many members have Succeeded, as far as known.
  static GangMembership Read(const ClusterState& state, const Gang& gang, size_t succeeded);

  std::vector<GangMember> members;
  std::vector<std::shared_ptr<const Pod>> to_place;   // with GPUs, neither bound nor being bound
  std::vector<std::shared_ptr<const Pod>> launchers;  // without GPUs, and not bound
  size_t running = 0;  // members with GPUs that are bound or being bound
  size_t succeeded = 0;
  std::string disagreement;  // between the members about their gang; empty if none

  // Returns whether a member with GPUs runs, or all members exist or have Succeeded.
  bool IsWhole(const Gang& gang) const {
    return running > 0 || members.size() == static_cast<size_t>(gang.size) ||
           (succeeded > 0 && members.size() + succeeded >= static_cast<size_t>(gang.size));
  }
};

}  // namespace synergy
