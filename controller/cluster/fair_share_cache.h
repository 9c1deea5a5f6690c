#pragma once

// LeastFairShare() of the cluster, remembered by what pods say of the nodes that they may go to:
// pods come in herds that are alike, and GPU pods that come and go do not change fair shares. What
// is remembered may be as old as kMostAge; that there is no node at all is not remembered beyond
// the next change.
//
// Threading: from any thread.

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "cluster/node_selection.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/resources.h"

namespace synergy::controller {

class FairShareCache {
 public:
  static constexpr Duration kMostAge = std::chrono::seconds(2);

  // Both outlive this. No share is larger than that of nodes that have `least_pool` for each GPU,
  // in the dimensions where that is something: nodes that an autoscaler could make are not seen.
  FairShareCache(const ClusterState& state, const Clock& clock, ResourceVector headroom = {},
                 ResourceVector least_pool = {})
      : state_(state), clock_(clock), headroom_(headroom), least_pool_(least_pool) {}

  std::optional<ResourceVector> Find(const NodeSelection& selection, Gpus gpus,
                                     const std::string& gpu_product);
  // Calculates anew what was asked for lately, so that Find() need not: more often than kMostAge.
  void Refresh();

 private:
  struct Key {
    NodeSelection selection;
    Gpus gpus;
    std::string gpu_product;

    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::optional<ResourceVector> share;
    // Of which cluster. The snapshot itself would keep all that has changed since, to be freed at
    // once when the entry goes.
    uint64_t version = 0;
    Instant at;  // when that was the present one
    Instant asked;
  };
  static constexpr size_t kMostEntries = 64;
  static constexpr Duration kForgetAfter = std::chrono::minutes(1);

  std::optional<ResourceVector> Calculate(const ClusterSnapshot& snapshot, const Key& key) const;
  void Remember(Entry entry);

  const ClusterState& state_;
  const Clock& clock_;
  const ResourceVector headroom_;
  const ResourceVector least_pool_;  // for each GPU
  std::mutex mutex_;
  std::list<Entry> entries_;  // the latest first
};

}  // namespace synergy::controller
