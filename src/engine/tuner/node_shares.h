#pragma once

// Lists the pods of a node whose CPU and memory may be changed now, with their bounds, in the form
// that the algorithms of allocation/surplus.h expect.
//
// Threading: pure.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocation/storage/storage_catalog.h"
#include "allocation/surplus.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "engine/profile_catalog.h"
#include "engine/tuner/tuner_actions.h"
#include "engine/tuner/tuner_memory.h"

namespace synergy {

// The shares of a node's pods. Keeps alive the profiles that the shares point to.
struct NodeShares {
  std::vector<std::shared_ptr<const Pod>> pods;
  std::vector<std::shared_ptr<const JobProfile>> profiles;
  std::vector<PodShare> shares;
  std::vector<bool> keeps;      // by share: must not be changed yet
  bool held_by_limits = false;  // a share would get more if its namespace allowed it
};

// The purpose for which shares are listed.
enum class SharePurpose {
  kReclaim,  // to make room for a waiting pod
  kDivide,   // at most one change per pod and round; pods without a profile keep what they have
};

struct ShareRules {
  const ProfileCatalog& profiles;
  const TunerMemory& memory;
  Moment at;
  Duration round;
  double max_speed_up = kDefaultMaxSpeedUp;
  const NamespaceLimits* limits = nullptr;   // null: no limits
  const ClusterSnapshot* cluster = nullptr;  // for other members of gangs; null: leave gangs out
  bool within_counted = false;               // pods in Kueue's queues get no more than their floors
  const StorageCatalog* storage = nullptr;   // null: the storage is unknown
};

// Returns the most that the namespace and the pod's queue allow the pod now, given what the
// namespace's other pods are about to get.
ResourceVector MostAllowed(const Pod& pod, const ShareRules& rules);

// Does the same for each of `count` pods like this one, if each wants `wanted`.
ResourceVector MostAllowedForEach(const Pod& pod, const ResourceVector& wanted, size_t count,
                                  const ShareRules& rules);

// Returns the shares of the pods that may be changed now, sorted by namespace and name. For a
// reclaim, the shares also have the gang-dependent values (gang_shares.h).
NodeShares SharesOn(const NodeState& node, SharePurpose use, const ShareRules& rules);

// Returns when the first of the pods that temporarily cannot be changed may be changed again;
// nullopt if the node has no such pod.
std::optional<Instant> NextChange(const NodeState& node, const ShareRules& rules);

// Returns a notice for the pod's owner if the tuner leaves the pod alone, or uses figures other
// than those at the pod's admission. Returns nullopt if there is nothing to report. `node`: the
// pod's node.
std::optional<tuner_action::Notify> NoticeFor(const Pod& pod, const NodeState& node,
                                              const ProfileCatalog& profiles, WallTime now);

}  // namespace synergy
