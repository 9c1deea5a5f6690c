#pragma once

// Room that is about to become free on a node: by pods that are being deleted and by resizes in
// progress.
//
// Threading: pure.

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy {

// Whether `pod`, which does not fit on `node` now, will fit once the known changes there are
// complete, or may, because the node itself is not known yet.
bool MayFitSoon(const Pod& pod, const NodeState& node);

}  // namespace synergy
