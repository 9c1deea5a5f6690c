#pragma once

// Places the members of a gang: all of them, or none. One node is better than several, and few are
// better than many; among equals, the nodes are chosen that best fit all members that go there
// (best_fit.h).
//
// Node after node is filled with as many of the members as it takes, first the node that takes most
// GPUs; members that may go to the fewest nodes come first, then the largest. For members that are
// alike, and may go to the same nodes, that finds a plan whenever there is one: each node takes
// what it can, and that is enough or not. If it fails for others, members that are in the way are
// moved (gang_search.h). That is bin packing, so that it may miss a plan for a large gang of unlike
// members.
//
// Members also keep apart from each other as their specs require (cluster/separation.h). Pods of at
// least their priority that are nominated to a node are counted there.
//
// gang_locality.h decides how long a gang waits for one node, or one rack.
//
// Threading: pure.

#include <cstddef>
#include <cstdint>
#include <functional>
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

namespace synergy {

struct GangPlan {
  std::vector<NodeIndex> places;  // in the order of the members; empty: they do not all fit
  // If there are no places: how many members fit together, and what the next one lacks on the node
  // where it lacks least; none if it may not go to any node.
  size_t fitting = 0;
  std::optional<FitFailures> lacking;
  std::optional<NodeIndex> lacking_on;
};

// Whether a member (its index in the list) may go to a node, resources aside.
using MayGo = std::function<bool(size_t member, NodeIndex node)>;

// At most `most` of the members that are like `shape` may be on `node`, as kube-scheduler's
// refusals have shown.
struct ShapeBound {
  std::shared_ptr<const Pod> shape;
  NodeIndex node = 0;
  size_t most = 0;
};
// Whether pods of a gang are of one shape: with the same requests and the same rules of separation.
bool IsAlike(const Pod& a, const Pod& b);

// Where members may go, resources aside, and what storage they read from.
struct GangTerms {
  GangTerms() = default;
  // `says(member, node)`: whether the member may go to the node.
  template <class Predicate>
    requires std::is_invocable_r_v<bool, const Predicate&, size_t, NodeIndex>
  GangTerms(Predicate predicate)
      : may_go(std::move(predicate)) {}  // NOLINT(google-explicit-constructor)

  MayGo may_go;
  std::vector<ShapeBound> bounds = {};
  // Decides among nodes that take as many GPUs, by what members read; null: nothing is known.
  const StorageCatalog* storage = nullptr;
};

// REQUIRES: the members are not bound. Ignores what the snapshot counts of them, and of the pods
// `but` (by UID).
GangPlan PlanGang(const ClusterSnapshot& snapshot,
                  const std::vector<std::shared_ptr<const Pod>>& members,
                  const ReserveRule& reserve, const GangTerms& terms,
                  const std::set<std::string>& but = {});
// The same on these nodes only.
GangPlan PlanGangAmong(const ClusterSnapshot& snapshot,
                       const std::vector<std::shared_ptr<const Pod>>& members,
                       const ReserveRule& reserve, const GangTerms& terms,
                       std::span<const NodeIndex> nodes, const std::set<std::string>& but = {});
// The same as if these nodes were empty.
GangPlan PlanGangOnEmpty(const ClusterSnapshot& snapshot,
                         const std::vector<std::shared_ptr<const Pod>>& members,
                         const ReserveRule& reserve, const GangTerms& terms,
                         std::span<const NodeIndex> nodes);
// The hypothetical state of a node.
using NodeAsIf = std::function<NodeState(NodeIndex node)>;
// Whether pods of others, which members may have to keep apart from, stay.
enum class OthersAsIf : uint8_t { kStay, kMayLeave };
// The same as if the nodes were in that state.
GangPlan PlanGangAsIf(const ClusterSnapshot& snapshot,
                      const std::vector<std::shared_ptr<const Pod>>& members,
                      const ReserveRule& reserve, const GangTerms& terms,
                      std::span<const NodeIndex> nodes, const NodeAsIf& as_if, OthersAsIf others);

}  // namespace synergy
