#pragma once

// Determines where a gang's members without GPUs (an MPIJob's launcher, a driver) must go.
// kube-scheduler places them without the extender, so their nodes may be known only in part.
//
// This file is separate because launchers need no plan: kube-scheduler chooses their nodes.
//
// Threading: pure.

#include <memory>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/pod_records.h"

namespace synergy {

// Returns, for pods that are not bound, the nominated node or the only node that the pod's spec
// allows. Omits pods that may go to several nodes or to none.
std::vector<GangPlace> KnownPlaces(const ClusterSnapshot& snapshot,
                                   const std::vector<std::shared_ptr<const Pod>>& pods);

}  // namespace synergy
