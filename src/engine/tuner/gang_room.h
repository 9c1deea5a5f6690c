#pragma once

// Where room for all of a waiting gang's pods can be had by cuts: on how many nodes soever, and
// all at once or not at all (docs/tuner.md).
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
#include "engine/tuner/room.h"
#include "engine/tuner/tenancy.h"

namespace synergy {

struct GangRoom {
  std::vector<NodeIndex> places;  // in the order of the members
  // The nodes on which tenants have to be cut, each once; empty: there is room already.
  std::vector<RoomPlan> cuts;
};

// For the members of a gang that have no node. `may_go`: beside what their own words allow. `but`:
// pods that are thought away, by uid. None where no cuts above the floors make room for all of
// them.
std::optional<GangRoom> RoomForGang(const ClusterSnapshot& snapshot,
                                    const std::vector<std::shared_ptr<const Pod>>& members,
                                    const ResourceVector& headroom, const TenancyRules& rules,
                                    const MayGo& may_go, const std::set<std::string>& but = {});

}  // namespace synergy
