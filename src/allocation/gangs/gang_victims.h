#pragma once

// Whom a gang of higher priority replaces, so that all of its members get places: gangs as a whole,
// and pods that train alone. The rules are those of kube-scheduler's pre-emption, for all members
// at once (pkg/scheduler/framework/plugins/defaultpreemption):
//
//   nobody of the gang's priority or a higher one; of the others those of the lowest priority first
//   nobody whose leaving is not needed: whoever can stay stays, of the highest priority first
//   nobody for CPU or memory that can be had by cuts (surplus.h), or for room that comes anyway, or
//   that is kept for pods of lower priority that wait
//
// and beside them
//
//   no gang in part: all of its pods that have a node, or none
//   nobody against a PodDisruptionBudget: the Eviction API would refuse it half way
//   among equals those that are broken already first (a member is missing), then those with the
//   fewest GPUs
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
  // Empty: the gang fits without anybody else's leaving, at once or soon.
  std::vector<std::shared_ptr<const Pod>> pods;
  std::vector<NodeIndex> places;  // in the order of the members, when they have left
};

// Whether a pod with GPUs, as its gang's others, may be evicted at all. Priority apart.
using MayEvict = std::function<bool(const Pod& pod)>;

// For the members of one gang that are not bound; others of it are not evicted for them. None where
// it does not help to evict anybody. `now`: for what can be cut.
std::optional<GangVictims> SelectGangVictims(const ClusterSnapshot& snapshot,
                                             const std::vector<std::shared_ptr<const Pod>>& members,
                                             const ReserveRule& reserve, const MayGo& may_go,
                                             const MayEvict& may_evict, WallTime now);

}  // namespace synergy
