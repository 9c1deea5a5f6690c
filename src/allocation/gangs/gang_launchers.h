#pragma once

// Where members of a gang without GPUs (an MPIJob's launcher, a driver) must go, as far as that is
// known before kube-scheduler has placed them: it does that without the extender.
//
// Threading: pure.

#include <memory>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/pod_records.h"

namespace synergy {

// For pods that are not bound: the nominated node of each, or the only node that its spec allows.
// Omits pods that may go to several nodes or to none.
std::vector<GangPlace> KnownPlaces(const ClusterSnapshot& snapshot,
                                   const std::vector<std::shared_ptr<const Pod>>& pods);

}  // namespace synergy
