#pragma once

// Looks for places if filling one node after another found none (gang_plan.h): it moves members
// that are in the way of others. First it uses augmenting paths, as in bipartite matching: a member
// takes the place of another member if that member in turn finds a place. Then it searches
// exhaustively, up to a fixed number of steps; for small gangs that finds a plan whenever one
// exists.
//
// Threading: pure.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "allocation/gangs/gang_plan.h"
#include "allocation/gangs/member_separation.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy {

// A node that a gang may use.
struct GangSite {
  NodeIndex node = 0;
  NodeState state;
  std::vector<bool> open_to;  // by member: it may go there, apart from resources
};

// Add or remove the pod's amounts, but not the pod itself, because a plan does not depend on which
// pods are on the node.
NodeState WithAmounts(NodeState state, const Pod& pod);
NodeState WithoutAmounts(NodeState state, const Pod& pod);

// Returns the places of all members, or an empty vector if the search finds none. `order`: the
// order in which members are tried. `separation` is unchanged on return. REQUIRES: it holds no
// member.
std::vector<NodeIndex> SearchPlaces(const std::vector<std::shared_ptr<const Pod>>& members,
                                    const std::vector<size_t>& order, std::vector<GangSite> sites,
                                    const std::vector<ShapeBound>& bounds,
                                    MemberSeparation& separation);

}  // namespace synergy
