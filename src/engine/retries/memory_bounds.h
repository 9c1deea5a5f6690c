#pragma once

// Bounds raises of a workload's process memory (retries.h) by the quotas, limit ranges and nodes of
// the cluster.
//
// This file is separate because retries.h does not depend on the cluster's state.
//
// Threading: pure.

#include <string>

#include "cluster/state/cluster_snapshot.h"
#include "core/units.h"
#include "profile/measured/measured_profile.h"

namespace synergy {

// Returns the most memory that a pod of the measured workload may get. Bounds are its namespace's
// quotas, whatever their use, the limit ranges, and the largest eligible node. If no node is
// eligible, nodes set no bound, because one may be added.
Bytes MostMemoryFor(const ClusterSnapshot& cluster, const std::string& pod_namespace,
                    const MeasuredProfile& measured);

}  // namespace synergy
