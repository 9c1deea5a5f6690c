#pragma once

// Lists the pods of a node whose CPU and memory may be changed now, and their bounds, in the form
// that the algorithms of allocation/surplus.h take.
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

// Keeps alive the profiles that the shares point to.
struct NodeShares {
  std::vector<std::shared_ptr<const Pod>> pods;
  std::vector<std::shared_ptr<const JobProfile>> profiles;
  std::vector<PodShare> shares;
  std::vector<bool> keeps;      // by share: must not be changed yet
  bool held_by_limits = false;  // a share would be given more if its namespace allowed it
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
  bool within_counted = false;               // pods in Kueue's queues keep to their floors
  const StorageCatalog* storage = nullptr;   // null: nothing is known of it
};

// Returns the most that the namespace and the pod's queue allow for the pod now, given what other
// pods of the namespace are being given.
ResourceVector MostAllowed(const Pod& pod, const ShareRules& rules);

// The same for each of `count` pods like this one, if each wants `wanted`.
ResourceVector MostAllowedForEach(const Pod& pod, const ResourceVector& wanted, size_t count,
                                  const ShareRules& rules);

// For a reclaim, shares also carry what depends on their gangs (gang_shares.h).
NodeShares SharesOn(const NodeState& node, SharePurpose use, const ShareRules& rules);

// Returns when the first pod of the node that is blocked from changes for a limited time can be
// changed again; nullopt if no pod is.
std::optional<Instant> NextChange(const NodeState& node, const ShareRules& rules);

// Returns a notice for the pod's owner: the pod is left alone, or is served by other figures than
// it was admitted with. Returns nullopt if there is nothing to report. `node`: labels of the pod's
// node.
std::optional<tuner_action::Notify> NoticeFor(const Pod& pod, const Labels& node,
                                              const ProfileCatalog& profiles, WallTime now);

}  // namespace synergy
