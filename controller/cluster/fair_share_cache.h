#pragma once

// Caches LeastFairShare() of the cluster by the pods' node constraints. Identical pods arrive in
// large groups, and GPU pods that come and go do not change fair shares. A cached share may be
// kMostAge old; "no node at all" is discarded at the next change of the cluster.
//
// Threading: any thread.

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
#include "core/gpu_amount.h"
#include "core/resources.h"

namespace synergy::controller {

class FairShareCache {
 public:
  static constexpr Duration kMostAge = std::chrono::seconds(2);

  // Both references must outlive this object. Nodes that an autoscaler could create are not
  // visible. So a share of whole GPUs is limited to the share on nodes with `least_pool` per GPU,
  // in the dimensions where `least_pool` is not zero.
  FairShareCache(const ClusterState& state, const Clock& clock, ResourceVector headroom = {},
                 ResourceVector least_pool = {})
      : state_(state), clock_(clock), headroom_(headroom), least_pool_(least_pool) {}

  std::optional<ResourceVector> Find(const NodeSelection& selection, const GpuAmount& gpus,
                                     const std::string& gpu_product);
  // Recalculates recently requested shares, so that Find() need not. Call it more often than every
  // kMostAge.
  void Refresh();

 private:
  struct Key {
    NodeSelection selection;
    GpuAmount gpus;
    std::string gpu_product;

    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::optional<ResourceVector> share;
    // The cluster's version. Holding the snapshot itself would keep all objects changed since then
    // alive, and free them all at once with the entry.
    uint64_t version = 0;
    Instant at;  // when that version was last current
    Instant asked;
  };
  static constexpr size_t kMostEntries = 64;
  static constexpr Duration kForgetAfter = std::chrono::minutes(1);

  std::optional<ResourceVector> Calculate(const ClusterSnapshot& snapshot, const Key& key) const;
  void Remember(Entry entry);

  const ClusterState& state_;
  const Clock& clock_;
  const ResourceVector headroom_;
  const ResourceVector least_pool_;  // per GPU
  std::mutex mutex_;
  std::list<Entry> entries_;  // newest first
};

}  // namespace synergy::controller
