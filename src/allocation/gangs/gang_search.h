#pragma once

// Looks for places where filling node after node found none (gang_plan.h): members that are in the
// way of others are moved. First by augmenting paths, as for a matching in a bipartite graph: a
// member takes another one's place if that one finds a place in turn. Then by trying everything, as
// far as a fixed number of steps goes: small gangs are found a plan whenever there is one.
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
  std::vector<bool> open_to;  // by member: it may go there, for what is not resources
};

// The amounts alone: who is on the node does not matter to a plan.
NodeState WithAmounts(NodeState state, const Pod& pod);
NodeState WithoutAmounts(NodeState state, const Pod& pod);

// The places of all members, or none. `order`: of the members, in which they are tried.
// `separation`: without any of them put anywhere; it is left so.
std::vector<NodeIndex> SearchPlaces(const std::vector<std::shared_ptr<const Pod>>& members,
                                    const std::vector<size_t>& order, std::vector<GangSite> sites,
                                    const std::vector<ShapeBound>& bounds,
                                    MemberSeparation& separation);

}  // namespace synergy
