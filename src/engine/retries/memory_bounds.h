#pragma once

// Bounds raises of a workload's process memory (retries.h) by what the cluster has.
//
// This file is separate because retries.h does not depend on a cluster.
//
// Threading: pure.

#include <string>

#include "cluster/state/cluster_snapshot.h"
#include "core/units.h"
#include "profile/measured/measured_profile.h"

namespace synergy {

// Returns the most memory that a pod of the measured workload may get: by the quotas of its
// namespace as a whole, its limit ranges, and the largest machine that it may go to. If there is no
// such machine, machines set no bound, because one may be added.
Bytes MostMemoryFor(const ClusterSnapshot& cluster, const std::string& pod_namespace,
                    const MeasuredProfile& measured);

}  // namespace synergy
