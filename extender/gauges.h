#pragma once

// Reads the gauges for a scrape from the cluster's state, and tracks how long unbound pods have had
// places on nodes.
//
// Threading: any thread.

#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "allocation/best_fit.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "kube/watches.h"
#include "metrics/extender_metrics.h"

namespace synergy::extender {

// Tracks how long unbound pods have had places. A bind in doubt, or a place that the tuner keeps,
// takes room from other pods while it lasts. Ages are accurate to the time between two calls of
// Look().
class PlaceAges {
 public:
  struct Summary {
    size_t places = 0;
    Duration oldest{};
  };

  // Call it about every second with the UIDs of all pods that have such a place at `now`.
  void Look(const std::set<std::string>& uids, Instant now);
  Summary Of(Instant now) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, Instant> since_;  // by UID
};

// The places of pods that are being bound, and those that the tuner keeps.
struct AgesOfPlaces {
  PlaceAges assumed;
  PlaceAges kept;

  void Look(const ClusterState& state, Instant now);
};

metrics::ClusterGauges ReadGauges(const ClusterState& state, const std::string& gpu_resource,
                                  const AgesOfPlaces& ages, const ReserveRule& reserve,
                                  const std::vector<kube::WatchedResource>& resources,
                                  const kube::Health& health, const Clock& clock);

}  // namespace synergy::extender
