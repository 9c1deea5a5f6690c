#pragma once

// Where members of a gang that have no GPUs (an MPIJob's launcher, a driver) have to go, as far as
// that is known before kube-scheduler has placed them: it does that without asking us.
//
// Threading: pure.

#include <memory>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/pod_records.h"

namespace synergy {

// Of pods that are not bound: where each is nominated to, or the only node that its own words let
// it go to. Those that may go to several, or to none, are left out.
std::vector<GangPlace> KnownPlaces(const ClusterSnapshot& snapshot,
                                   const std::vector<std::shared_ptr<const Pod>>& pods);

}  // namespace synergy
