#pragma once

// The nodes that a placement is asked about, as the snapshot knows them, with the pod's own earlier
// share thought away: it must not stand in its own way when kube-scheduler places it anew.
//
// Threading: one call, one Candidates; it keeps the snapshot and the question alive only by
// reference.

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

// Where `snapshot` counts the pod, if that is at `place`: a placement may be younger than the
// snapshot, and only what is counted can be thought away.
std::optional<NodeIndex> CountedAt(const ClusterSnapshot& snapshot, std::optional<NodeIndex> place,
                                   const std::string& uid);

class Candidates {
 public:
  // `counted_on`: as CountedAt() says.
  Candidates(const ClusterSnapshot& snapshot, const Pod& pod, std::optional<NodeIndex> counted_on,
             const AskedNodes& asked);

  struct Candidate {
    const NodeState* state = nullptr;  // valid until the next Judge()
    std::optional<NodeIndex> index;    // none: known from the question alone, or not at all
    FitFailures failures = {};         // none: the pod can go there
    // Which entries of the pod's requests.other the node has too little of, as bits; none where
    // that was not looked at one by one.
    std::optional<uint64_t> lacking = {};
  };
  // The i-th node of the question.
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
  std::vector<std::optional<NodeIndex>> places_;  // by position in the question
  std::vector<Scalar> scalars_;
  bool by_columns_ = true;  // the bits suffice
  std::optional<NodeIndex> counted_on_;
  NodeState without_pod_;
  NodeState sent_state_;
};

}  // namespace synergy
