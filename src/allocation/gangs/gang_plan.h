#pragma once

// Places the members of a gang: all of them, or none. Fewer nodes are better, and one is best.
// Between plans with equally many nodes, the nodes that best fit all their members win
// (best_fit.h).
//
// Fills one node after another with as many members as it can take, starting with the node that can
// take the most GPUs. Members that may go to the fewest nodes come first, then the largest. For
// members that are alike and may go to the same nodes, this finds a plan whenever one exists,
// because each node takes as many as it can. If it fails for unlike members, members that are in
// the way are moved (gang_search.h). Since this is bin packing, it may miss a plan for a large gang
// of unlike members.
//
// Members also stay apart from each other as their specs require (cluster/separation.h). Nominated
// pods of at least the members' priority are counted on their nodes.
//
// gang_locality.h decides how long a gang waits for one node, or one rack.
//
// Threading: pure.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "allocation/best_fit.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/fit.h"
#include "core/units.h"

namespace synergy {

struct GangPlan {
  std::vector<NodeIndex> places;  // in the order of the members; empty if they do not all fit
  // Set if there are no places: how many members fit together, and what the next one lacks on the
  // node where it lacks least. The lack is empty if that member may not go to any node.
  size_t fitting = 0;
  std::optional<FitFailures> lacking;
  std::optional<NodeIndex> lacking_on;
};

// Returns whether a member (its index in the list) may go to a node, apart from resources.
using MayGo = std::function<bool(size_t member, NodeIndex node)>;

// At most `most` of the members that are like `shape` may be on `node`, as refusals by
// kube-scheduler have shown.
struct ShapeBound {
  std::shared_ptr<const Pod> shape;
  NodeIndex node = 0;
  size_t most = 0;
};
// Returns whether two pods of a gang have one shape: the same requests and the same rules of
// separation.
bool IsAlike(const Pod& a, const Pod& b);

// Where members may go, apart from resources, and what storage they read from.
struct GangTerms {
  GangTerms() = default;
  // `predicate(member, node)` returns whether the member may go to the node.
  template <class Predicate>
    requires std::is_invocable_r_v<bool, const Predicate&, size_t, NodeIndex>
  GangTerms(Predicate predicate)
      : may_go(std::move(predicate)) {}  // NOLINT(google-explicit-constructor)

  MayGo may_go;
  std::vector<ShapeBound> bounds = {};
  // The most GPUs of a node that all members together may use. Nodes that are absent have no bound.
  std::map<NodeIndex, Gpus> most_gpus = {};
  // The members' reads from this storage decide between nodes that take equally many GPUs. Null:
  // the storage is unknown.
  const StorageNeeds* storage = nullptr;
};

// Plans places for all members, or for none. Ignores what the snapshot counts for the members and
// for the pods `but` (by UID). REQUIRES: the members are not bound.
GangPlan PlanGang(const ClusterSnapshot& snapshot,
                  const std::vector<std::shared_ptr<const Pod>>& members,
                  const ReserveRule& reserve, const GangTerms& terms,
                  const std::set<std::string>& but = {});
// Does the same on these nodes only.
GangPlan PlanGangAmong(const ClusterSnapshot& snapshot,
                       const std::vector<std::shared_ptr<const Pod>>& members,
                       const ReserveRule& reserve, const GangTerms& terms,
                       std::span<const NodeIndex> nodes, const std::set<std::string>& but = {});
// Does the same as if these nodes were empty.
GangPlan PlanGangOnEmpty(const ClusterSnapshot& snapshot,
                         const std::vector<std::shared_ptr<const Pod>>& members,
                         const ReserveRule& reserve, const GangTerms& terms,
                         std::span<const NodeIndex> nodes);
// The hypothetical state of a node.
using NodeAsIf = std::function<NodeState(NodeIndex node)>;
// Does the same as if the nodes were in that state. `leaving`: the UIDs of pods that leave; members
// need not stay apart from them.
GangPlan PlanGangAsIf(const ClusterSnapshot& snapshot,
                      const std::vector<std::shared_ptr<const Pod>>& members,
                      const ReserveRule& reserve, const GangTerms& terms,
                      std::span<const NodeIndex> nodes, const NodeAsIf& as_if,
                      const std::set<std::string>& leaving = {});

}  // namespace synergy
