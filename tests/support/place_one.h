#pragma once

// Places a pod as /prioritize does when it is called with every node of the cluster.

#include <optional>
#include <string_view>

#include "allocation/asked_nodes.h"
#include "allocation/ranking.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy::testing {

class AllNodes final : public AskedNodes {
 public:
  explicit AllNodes(const ClusterSnapshot& snapshot) : snapshot_(snapshot) {}

  size_t size() const override { return snapshot_.size(); }
  std::string_view Name(size_t i) const override {
    const NodeState& node = snapshot_.node(static_cast<NodeIndex>(i));
    return node.detail ? std::string_view(node.detail->name) : std::string_view();
  }
  std::optional<Node> Sent(size_t /*i*/) const override { return std::nullopt; }

 private:
  const ClusterSnapshot& snapshot_;
};

// Returns the best node for the pod; nullopt if it fits nowhere.
inline std::optional<NodeIndex> PlaceOne(const ClusterSnapshot& snapshot, const Pod& pod,
                                         const ReserveRule& reserve) {
  return RankNodes(snapshot, pod, std::nullopt, AllNodes(snapshot), reserve).best_node();
}

}  // namespace synergy::testing
