#pragma once

// What a scrape reads from the cluster's state, and how long places have been held.
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

// How long places have been held for pods that are not bound: a bind in doubt, or a place that the
// tuner keeps, which lasts for long takes room from others.
// To within the time between two looks.
class PlaceAges {
 public:
  struct Held {
    size_t places = 0;
    Duration oldest{};
  };

  // To be called every second or so with what is held then.
  void Look(const std::vector<HeldPlace>& held, Instant now);
  Held Of(HeldPlace::Kind kind, Instant now) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, HeldPlace::Kind>, Instant> since_;  // by uid
};

metrics::ClusterGauges ReadGauges(const ClusterState& state, const PlaceAges& ages,
                                  const ReserveRule& reserve,
                                  const std::vector<kube::WatchedResource>& resources,
                                  const kube::Health& health, const Clock& clock);

}  // namespace synergy::extender
