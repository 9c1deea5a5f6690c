#pragma once

// Finds cuts, on any number of nodes, that make room for all pods of a waiting gang
// (docs/internals/tuner.md).
//
// Threading: pure.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "allocation/gangs/gang_plan.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/resources.h"
#include "engine/tuner/node_shares.h"
#include "engine/tuner/room.h"

namespace synergy {

struct GangRoom {
  std::vector<NodeIndex> places;  // in the order of the members
  // The nodes on which shares must be cut, each once. Empty if there is room already.
  std::vector<RoomPlan> cuts;
};

// Finds room for the members of a gang that have no node. `may_go`: a condition in addition to the
// pods' own selectors. `but`: UIDs of pods to ignore. Returns nullopt if no cuts above the floors
// make room for all members.
std::optional<GangRoom> RoomForGang(const ClusterSnapshot& snapshot,
                                    const std::vector<std::shared_ptr<const Pod>>& members,
                                    const ResourceVector& headroom, const ShareRules& rules,
                                    const MayGo& may_go, const std::set<std::string>& but = {});

}  // namespace synergy
