#pragma once

// SmallestFairShare() of the present cluster, remembered as long as the cluster does not change:
// pods come in herds that are alike.
//
// Threading: from any thread.

#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cluster/cluster_snapshot.h"
#include "cluster/cluster_state.h"
#include "cluster/node_selection.h"
#include "core/resources.h"

namespace synergy::controller {

class FairShares {
 public:
  // `state` outlives this.
  explicit FairShares(const ClusterState& state) : state_(state) {}

  std::optional<ResourceVector> Find(const NodeSelection& selection, Gpus gpus,
                                     const std::string& gpu_product);

 private:
  struct Entry {
    NodeSelection selection;
    Gpus gpus;
    std::string gpu_product;
    std::optional<ResourceVector> share;
  };
  static constexpr size_t kMostEntries = 32;

  const ClusterState& state_;
  std::mutex mutex_;
  std::shared_ptr<const ClusterSnapshot> snapshot_;  // that the entries are of
  std::list<Entry> entries_;                         // the latest first
};

}  // namespace synergy::controller
