#pragma once

// Where the members of a gang go: all of them, or none. One node is better than several, and few
// are better than many; among equals the nodes that best fit (best_fit.h) everything that goes
// there.
//
// Node after node is filled with as many of the members as it takes, the one that takes most GPUs
// first; of the members those that may go to the fewest nodes come first, then the largest. For
// members that are alike, and may go to the same nodes, that finds a plan whenever there is one:
// each node then takes what it can, and it is enough or not. Where it fails for others, members
// that are in the way are moved (gang_search.h). That is bin packing, so that in the end it may
// miss a plan of a large gang of unlike members.
//
// What members keep off each other (cluster/separation.h) is counted among them, and pods of at
// least their priority that are nominated to a node are counted there.
//
// How long a gang waits for one node, or one rack, is gang_locality.h's.
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
  // Without places: how many have one beside each other, and what the next lacks on the node where
  // it lacks least; none where it may go nowhere.
  size_t fitting = 0;
  std::optional<FitFailures> lacking;
  std::optional<NodeIndex> lacking_on;
};

// Whether a member (its place in the list) may go to a node, for what is not resources.
using MayGo = std::function<bool(size_t member, NodeIndex node)>;

// At most `most` of the members that are like `shape` are to be on `node`: what kube-scheduler's
// refusals have shown.
struct ShapeBound {
  std::shared_ptr<const Pod> shape;
  NodeIndex node = 0;
  size_t most = 0;
};
// Whether pods of a gang are of one shape: they ask for the same, and keep off the same.
bool IsAlike(const Pod& a, const Pod& b);

// Where members may go, for what is not resources.
struct GangTerms {
  GangTerms() = default;
  // Whatever says of a member and a node whether it may go there.
  template <class Says>
    requires std::is_invocable_r_v<bool, const Says&, size_t, NodeIndex>
  GangTerms(Says says) : may_go(std::move(says)) {}  // NOLINT(google-explicit-constructor)

  MayGo may_go;
  std::vector<ShapeBound> bounds = {};
};

// For members that are not bound; whatever the snapshot counts of them, and of the pods `but` (by
// uid), is thought away.
GangPlan PlanGang(const ClusterSnapshot& snapshot,
                  const std::vector<std::shared_ptr<const Pod>>& members,
                  const ReserveRule& reserve, const GangTerms& terms,
                  const std::set<std::string>& but = {});
// The same on these nodes alone.
GangPlan PlanGangAmong(const ClusterSnapshot& snapshot,
                       const std::vector<std::shared_ptr<const Pod>>& members,
                       const ReserveRule& reserve, const GangTerms& terms,
                       std::span<const NodeIndex> nodes, const std::set<std::string>& but = {});
// The same if nobody were on them.
GangPlan PlanGangOnEmpty(const ClusterSnapshot& snapshot,
                         const std::vector<std::shared_ptr<const Pod>>& members,
                         const ReserveRule& reserve, const GangTerms& terms,
                         std::span<const NodeIndex> nodes);
// A node as it might be.
using NodeAsIf = std::function<NodeState(NodeIndex node)>;
// Whether pods of others, whom members may keep off, are there then.
enum class OthersAsIf : uint8_t { kStay, kMayLeave };
// The same if they were so.
GangPlan PlanGangAsIf(const ClusterSnapshot& snapshot,
                      const std::vector<std::shared_ptr<const Pod>>& members,
                      const ReserveRule& reserve, const GangTerms& terms,
                      std::span<const NodeIndex> nodes, const NodeAsIf& as_if, OthersAsIf others);

}  // namespace synergy
