#pragma once

// Room that is on its way: what a node will have free once pods that are being deleted are gone and
// resizes have been made.
//
// Threading: pure.

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy {

// Whether `pod`, which does not fit on `node` now, will fit once what is known to be under way
// there has come to its end, or may, because the node itself is new to us.
bool MayFitSoon(const Pod& pod, const NodeState& node);

}  // namespace synergy
