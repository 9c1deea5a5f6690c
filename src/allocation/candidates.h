#pragma once

// Lists the candidate nodes of a placement without the pod's own earlier share, which must not
// block the pod when kube-scheduler places it again.
//
// Threading: each call creates its own Candidates. Ownership: references the snapshot and the
// nodes, which must outlive it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocation/asked_nodes.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/fit.h"

namespace synergy {

// Returns `place` if `snapshot` counts the pod there. A placement may be newer than the snapshot,
// and only a counted pod can be removed from a node.
std::optional<NodeIndex> CountedAt(const ClusterSnapshot& snapshot, std::optional<NodeIndex> place,
                                   const std::string& uid);

class Candidates {
 public:
  // `counted_on`: from CountedAt().
  Candidates(const ClusterSnapshot& snapshot, const Pod& pod, std::optional<NodeIndex> counted_on,
             const AskedNodes& asked);

  struct Candidate {
    const NodeState* state = nullptr;  // valid until the next Judge()
    std::optional<NodeIndex> index;    // absent: the snapshot lacks the node
    FitFailures failures = {};         // empty: the pod can go there
    // Bits for the entries of the pod's requests.other of which the node has too little; absent if
    // they were not checked individually.
    std::optional<uint64_t> lacking = {};
  };
  // Judges the i-th node of the request.
  Candidate Judge(size_t i);
  size_t size() const { return places_.size(); }

 private:
  Candidate Get(size_t i);
  uint64_t Lacking(NodeIndex index) const;

  struct Scalar {
    const ScalarColumn* column;  // null: no node has any free
    int64_t amount;
    uint64_t bit;
  };

  const ClusterSnapshot& snapshot_;
  const Pod& pod_;
  const AskedNodes& asked_;
  std::vector<std::optional<NodeIndex>> places_;  // by position in the request
  std::vector<Scalar> scalars_;
  bool by_columns_ = true;  // the column bits decide alone
  std::optional<NodeIndex> counted_on_;
  NodeState without_pod_;
  NodeState sent_state_;
};

}  // namespace synergy
