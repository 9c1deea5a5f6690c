#pragma once

// Predicts room that is about to become free on a node, from pods that are being deleted, from
// resizes in progress, and from what kube-scheduler must already know.
//
// Threading: pure.

#include <functional>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy {

// Returns whether `pod`, which does not fit on `node` now, will fit once the known changes there
// are complete, or may fit because the node itself is not known yet.
bool MayFitSoon(const Pod& pod, const NodeState& node);

// Returns whether `node` lacks room for `pod` even without loans and the pods that kube-scheduler
// does not count. kube-scheduler asks only about nodes on which it counts room, so it has then seen
// a change that this state of the node lacks. That also holds for an unknown node. `counts`:
// whether kube-scheduler counts a pod of the node there, because it is bound or being bound.
// REQUIRES: kube-scheduler has asked about the pod and the node.
bool IsLate(const Pod& pod, const NodeState& node, const std::function<bool(const Pod&)>& counts);

}  // namespace synergy
