#pragma once

// Chooses which pods to evict so that all members of a gang of higher priority get places. Victims
// are whole gangs, and pods that train alone. The rules are those of kube-scheduler's preemption,
// applied to all members at once (pkg/scheduler/framework/plugins/defaultpreemption):
//
//   no pod of the gang's priority or a higher one; of the others, the lowest priority first
//   no pod that can stay; pods of the highest priority are spared first
//   no pod for CPU or memory that cuts can provide (surplus.h), or for room that becomes free
//   anyway, or that is kept for waiting pods of lower priority
//
// and in addition
//
//   no gang in part: all of its pods that have a node, or none
//   no pod whose eviction violates a PodDisruptionBudget, because the Eviction API would refuse it
//   after it has accepted others
//   among equals, gangs that are already broken (a member is missing) first, then the victims with
//   the fewest GPUs
//
// Threading: pure.

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "allocation/best_fit.h"
#include "allocation/gangs/gang_plan.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"

namespace synergy {

struct GangVictims {
  // Empty: the gang fits without evictions, now or soon.
  std::vector<std::shared_ptr<const Pod>> pods;
  std::vector<NodeIndex> places;  // in the order of the members, once the pods have left
};

// Returns whether a pod with GPUs, or another pod of its gang, may be evicted, apart from priority.
using MayEvict = std::function<bool(const Pod& pod)>;

// Chooses victims for the unbound members of one gang. The gang's other members are never victims.
// Returns nullopt if evictions do not help. `now`: the time for which surplus is computed.
std::optional<GangVictims> SelectGangVictims(const ClusterSnapshot& snapshot,
                                             const std::vector<std::shared_ptr<const Pod>>& members,
                                             const ReserveRule& reserve, const MayGo& may_go,
                                             const MayEvict& may_evict, WallTime now);

}  // namespace synergy
