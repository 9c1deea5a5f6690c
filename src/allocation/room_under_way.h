#pragma once

// Predicts room that is about to become free on a node. Considers pods that are being deleted,
// resizes in progress, and changes that kube-scheduler has already seen.
//
// This file is separate because the extender and preemption, which are otherwise independent, need
// it.
//
// Threading: pure.

#include <functional>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"

namespace synergy {

// Returns whether `pod` will fit on `node` once the deletions and resizes in progress there are
// complete. Returns true for a node that is not known yet.
bool MayFitSoon(const Pod& pod, const NodeState& node);

// Returns whether the state of `node` is behind kube-scheduler's. kube-scheduler asks only about
// nodes on which it counts room. If the node lacks room for `pod` even without loans and pods that
// kube-scheduler does not count, kube-scheduler has seen a newer change. Returns true for an
// unknown node. `counts`: returns whether kube-scheduler counts a pod on the node, because the pod
// is bound or being bound. REQUIRES: kube-scheduler has asked about the pod and the node.
bool IsLate(const Pod& pod, const NodeState& node, const std::function<bool(const Pod&)>& counts);

}  // namespace synergy
