#pragma once

// Ranks the candidate nodes of one placement and computes their points for kube-scheduler.
//
// The best node alone gets 10 points, so that it wins whatever kube-scheduler's own scores are
// (docs/adr/0003-points.md). The others get 9 to 5 points in tier kRoom and 4 to 0 points in tier
// kShort, in order of cost. Nodes that were not added keep their points.
//
// Threading: each call creates its own Ranking.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "allocation/asked_nodes.h"
#include "allocation/best_fit.h"
#include "allocation/candidates.h"

namespace synergy {

class Ranking {
 public:
  static constexpr int kMostPoints = 10;

  // `asked` must outlive this object.
  explicit Ranking(const AskedNodes& asked) : asked_(asked) { entries_.reserve(asked.size()); }

  // `position`: the node's index in the request. Equal ranks are ordered by name.
  void Add(size_t position, FitRank rank, std::optional<NodeIndex> node);

  size_t size() const { return entries_.size(); }
  std::optional<NodeIndex> best_node() const { return best_node_; }
  std::string_view best_name() const { return entries_.empty() ? "" : asked_.Name(best_.position); }

  // Nodes in the best node's tier whose cost exceeds its cost by at most `slack` also get 10
  // points; kube-scheduler's own scores decide between them.
  void GivePoints(std::span<uint8_t> points, double slack = 0) const;
  // Returns whether several nodes get 10 points with this `slack`.
  bool LeavesTheChoice(double slack) const;

 private:
  struct Entry {
    FitRank rank;
    uint32_t position = 0;
  };
  // Returns whether the entry is in the best node's tier, and its cost within `slack` of the best.
  bool IsBest(const Entry& entry, double slack) const;

  struct Range {
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
  };

  const AskedNodes& asked_;
  std::vector<Entry> entries_;
  Entry best_;
  std::optional<NodeIndex> best_node_;
  Range costs_[kFitTiers];
};

// Ranks the requested nodes on which the pod fits. `counted_on` comes from CountedAt(). Adds
// `avoided` nodes only if the pod fits on no other node. `storage`: null if it is unknown.
Ranking RankNodes(const ClusterSnapshot& snapshot, const Pod& pod,
                  std::optional<NodeIndex> counted_on, const AskedNodes& asked,
                  const ReserveRule& reserve, const NodeSet& avoided = {},
                  const StorageNeeds* storage = nullptr);

}  // namespace synergy
