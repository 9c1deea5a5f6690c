#pragma once

// A node's pods whose CPU and memory may be changed now, and within what bounds: the node as the
// algorithms of allocation/surplus.h see it.
//
// Threading: pure.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocation/surplus.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "engine/profile_book.h"
#include "engine/tuner/tuner_actions.h"
#include "engine/tuner/tuner_memory.h"

namespace synergy {

// The profiles that the tenants point to are kept alive here.
struct Tenancy {
  std::vector<std::shared_ptr<const Pod>> pods;
  std::vector<std::shared_ptr<const JobProfile>> profiles;
  std::vector<Tenant> tenants;
  std::vector<bool> keeps;      // by tenant: it is not its time to be changed
  bool held_by_limits = false;  // somebody would be given more if its namespace let it have it
};

// Why tenants are asked for.
enum class TenancyUse {
  kReclaim,  // a pod waits
  kDivide,   // at most one change a pod and round; a pod without a profile keeps what it has
};

struct TenancyRules {
  const ProfileBook& profiles;
  const TunerMemory& memory;
  Moment at;
  Duration round;
  double max_speed_up = kDefaultMaxSpeedUp;
  const NamespaceLimits* limits = nullptr;   // null: there are none
  const ClusterSnapshot* cluster = nullptr;  // for a gang's other members; null: there are none
};

// The most that the namespace lets the pod be given now, beside what others there are being given.
ResourceVector MostAllowed(const Pod& pod, const TenancyRules& rules);

// The same of each of `count` pods like it, where they want that much.
ResourceVector MostAllowedForEach(const Pod& pod, const ResourceVector& wanted, size_t count,
                                  const TenancyRules& rules);

// For a reclaim the tenants know what hangs on them in their gangs (gang_tenancy.h).
Tenancy TenancyOf(const NodeState& node, TenancyUse use, const TenancyRules& rules);

// When the first pod of the node that cannot be changed now for reasons of time can be changed
// again; none where there is no such pod.
std::optional<Instant> NextChange(const NodeState& node, const TenancyRules& rules);

// What people have to be told of the pod: that it is left alone, or served by other figures than it
// was admitted with. None where there is nothing to tell. `node`: the labels of its node.
std::optional<TunerAction> WhatToTell(const std::shared_ptr<const Pod>& pod, const Labels& node,
                                      const ProfileBook& profiles, WallTime now);

}  // namespace synergy
