#pragma once

// What a scrape reads from the cluster's state.
//
// Threading: from any thread.

#include <string>
#include <vector>

#include "allocation/best_fit.h"
#include "cluster/state/cluster_state.h"
#include "extender/gangs/place_ages.h"
#include "kube/health.h"
#include "metrics/extender_metrics.h"

namespace synergy::extender {

metrics::ClusterGauges ReadGauges(const ClusterState& state, const PlaceAges& ages,
                                  const ReserveRule& reserve,
                                  const std::vector<kube::WatchedResource>& resources,
                                  const kube::Health& health, const Clock& clock);

}  // namespace synergy::extender
