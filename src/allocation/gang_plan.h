#pragma once

// Where the members of a gang go: all of them, or none. One node is better than several, and few
// are better than many; among equals the nodes that best fit (best_fit.h) everything that goes
// there.
//
// Node after node is filled with as many of the members as it takes, the one that takes most GPUs
// first. For members that are alike, and may go to the same nodes, that finds a plan whenever there
// is one: each node then takes what it can, and it is enough or not. For others it may fail where
// another order would not; finding one is bin packing.
//
// How long a gang waits for one node, or one rack, is gang_locality.h's.
//
// Threading: pure.

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "allocation/best_fit.h"
#include "cluster/cluster_snapshot.h"
#include "cluster/fit.h"
#include "cluster/pod.h"

namespace synergy {

struct GangPlan {
  std::vector<NodeIndex> places;  // in the order of the members; empty: they do not all fit
  // Without places: how many have one beside each other, and what the next lacks on the node where
  // it lacks least; none where it may go nowhere.
  size_t fitting = 0;
  std::optional<FitFailures> lacking;
  std::optional<NodeIndex> lacking_on;
};

// Whether a member (its place in the list) may go to a node, for what is not resources.
using MayGo = std::function<bool(size_t member, NodeIndex node)>;

// For members that are not bound; whatever the snapshot counts of them, and of the pods `but` (by
// uid), is thought away.
GangPlan PlanGang(const ClusterSnapshot& snapshot,
                  const std::vector<std::shared_ptr<const Pod>>& members,
                  const ReserveRule& reserve, const MayGo& may_go,
                  const std::set<std::string>& but = {});
// The same on these nodes alone.
GangPlan PlanGangAmong(const ClusterSnapshot& snapshot,
                       const std::vector<std::shared_ptr<const Pod>>& members,
                       const ReserveRule& reserve, const MayGo& may_go,
                       std::span<const NodeIndex> nodes, const std::set<std::string>& but = {});
// The same if nobody were on them.
GangPlan PlanGangOnEmpty(const ClusterSnapshot& snapshot,
                         const std::vector<std::shared_ptr<const Pod>>& members,
                         const ReserveRule& reserve, const MayGo& may_go,
                         std::span<const NodeIndex> nodes);
// A node as it might be.
using NodeAsIf = std::function<NodeState(NodeIndex node)>;
// The same if they were so.
GangPlan PlanGangAsIf(const ClusterSnapshot& snapshot,
                      const std::vector<std::shared_ptr<const Pod>>& members,
                      const ReserveRule& reserve, const MayGo& may_go,
                      std::span<const NodeIndex> nodes, const NodeAsIf& as_if);

}  // namespace synergy
