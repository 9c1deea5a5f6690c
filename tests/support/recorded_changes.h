#pragma once

// Keeps the changes of a ClusterState, for tests of its journal.
//
// Threading: as ClusterJournal.

#include <vector>

#include "cluster/state/cluster_journal.h"

namespace synergy::testing {

class RecordedChanges final : public ClusterJournal {
 public:
  void Wrote(const ClusterChange& change) override { all.push_back(change); }

  std::vector<ClusterChange> all;  // in order
};

}  // namespace synergy::testing
