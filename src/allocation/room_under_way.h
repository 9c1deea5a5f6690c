#pragma once

// Predicts room that is about to become free on a node, from pods that are being deleted and from
// resizes in progress.
//
// Threading: pure.

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy {

// Returns whether `pod`, which does not fit on `node` now, will fit once the known changes there
// are complete, or may fit because the node itself is not known yet.
bool MayFitSoon(const Pod& pod, const NodeState& node);

}  // namespace synergy
