#pragma once

// Reads the values of a scrape from the cluster's state, and how long places have been held.
//
// Threading: from any thread.

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "allocation/best_fit.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "kube/watches.h"
#include "metrics/extender_metrics.h"

namespace synergy::extender {

// How long places have been held for pods that are not bound. A bind in doubt, or a place that the
// tuner keeps, takes room from other pods if it lasts for long. Accurate to the time between two
// looks.
class PlaceAges {
 public:
  struct Held {
    size_t places = 0;
    Duration oldest{};
  };

  // Call it about every second with the places that are held then.
  void Look(const std::vector<HeldPlace>& held, Instant now);
  Held Of(HeldPlace::Kind kind, Instant now) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, HeldPlace::Kind>, Instant> since_;  // by UID
};

metrics::ClusterGauges ReadGauges(const ClusterState& state, const PlaceAges& ages,
                                  const ReserveRule& reserve,
                                  const std::vector<kube::WatchedResource>& resources,
                                  const kube::Health& health, const Clock& clock);

}  // namespace synergy::extender
