#pragma once

// The candidate nodes of a placement, from the snapshot, without the pod's own earlier share: it
// must not block itself when kube-scheduler places it again.
//
// Threading: one call, one Candidates. Ownership: it references the snapshot and the nodes, which
// outlive it.

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

// Returns `place` if `snapshot` counts the pod there: a placement may be younger than the snapshot,
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
    std::optional<NodeIndex> index;    // none: known only from the request, or not at all
    FitFailures failures = {};         // none: the pod can go there
    // The entries of the pod's requests.other of which the node has too little, as bits; none if
    // they were not checked one by one.
    std::optional<uint64_t> lacking = {};
  };
  // Judges the i-th node of the request.
  Candidate Judge(size_t i);
  size_t size() const { return places_.size(); }

 private:
  Candidate Get(size_t i);
  uint64_t Lacking(NodeIndex index) const;

  struct Scalar {
    const ScalarColumn* column;  // null: none is free anywhere
    int64_t amount;
    uint64_t bit;
  };

  const ClusterSnapshot& snapshot_;
  const Pod& pod_;
  const AskedNodes& asked_;
  std::vector<std::optional<NodeIndex>> places_;  // by position in the request
  std::vector<Scalar> scalars_;
  bool by_columns_ = true;  // the bits suffice
  std::optional<NodeIndex> counted_on_;
  NodeState without_pod_;
  NodeState sent_state_;
};

}  // namespace synergy
