#pragma once

// Which pods a pod of higher priority should replace on a node.
//
// kube-scheduler proposes victims from its own filters; we keep of them only those that the
// resources make necessary, in the order in which kube-scheduler itself reprieves
// (pkg/scheduler/framework/plugins/defaultpreemption): pods whose eviction would violate a
// PodDisruptionBudget first, then those of high priority.
//
// Threading: pure.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"

namespace synergy {

struct Victims {
  std::vector<std::shared_ptr<const Pod>> pods;  // never empty
  int64_t disruption_budget_violations = 0;
};

// The least of `proposed` (uids) whose leaving lets `pod` onto the node. None when not even all of
// them are enough, when none of them is there any more, or when reclaiming alone makes the room: no
// pod is to be evicted for CPU or memory that can be had. If the pod fits as things are, something
// other than resources is in its way, which we cannot judge: then all of the proposed victims are
// kept. `reclaims_at`: the moment at which the tuner is counted on to take surplus (surplus.h);
// none: it is not. While it is, there is no answer either for a node with fungible pods where the
// pod fits: a cut may have made the room since kube-scheduler looked.
std::optional<Victims> SelectVictims(const ClusterSnapshot& snapshot, const Pod& pod,
                                     NodeIndex node, const std::vector<std::string>& proposed,
                                     std::optional<WallTime> reclaims_at = std::nullopt);

struct NodeVictims {
  std::string node;
  Victims victims;
};
// The same for every node of `proposed`; those without victims, and those that are not known, are
// left out.
std::vector<NodeVictims> SelectVictimsByNode(
    const ClusterSnapshot& snapshot, const Pod& pod,
    const std::vector<std::pair<std::string, std::vector<std::string>>>& proposed,
    std::optional<WallTime> reclaims_at);

// How many of `pods` would be evicted against their PodDisruptionBudget, taken in order; sets
// `violating[i]`.
int64_t CountBudgetViolations(const std::vector<DisruptionBudget>& budgets,
                              const std::vector<std::shared_ptr<const Pod>>& pods,
                              std::vector<bool>& violating);

}  // namespace synergy
