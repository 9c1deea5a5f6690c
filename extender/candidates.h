#pragma once

// The nodes that a filter or prioritize call asks about, as the snapshot knows them, with the pod's
// own earlier share thought away: it must not stand in its own way when kube-scheduler places it
// anew.
//
// Threading: one call, one Candidates; it keeps the snapshot and the message alive only by
// reference.

#include <optional>
#include <string_view>
#include <vector>

#include "cluster/cluster_snapshot.h"
#include "cluster/cluster_state.h"
#include "json/extender_messages.h"
#include "json/objects.h"

namespace synergy::extender {

class Candidates {
 public:
  Candidates(const ClusterSnapshot& snapshot, const std::optional<ClusterState::Hold>& hold,
             const json::ExtenderArgs& args, const json::ObjectReader& reader);

  struct Candidate {
    const NodeState* state = nullptr;  // valid until the next Get()
    std::optional<NodeIndex> index;    // none: known from the request alone, or not at all
  };
  // The i-th node of the request.
  Candidate Get(size_t i);

 private:
  const ClusterSnapshot& snapshot_;
  const json::ExtenderArgs& args_;
  const json::ObjectReader& reader_;
  std::vector<std::optional<NodeIndex>> places_;  // by position in the request
  std::optional<NodeIndex> held_;
  NodeState held_state_;
  NodeState sent_state_;
};

}  // namespace synergy::extender
