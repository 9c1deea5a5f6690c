#pragma once

// Chooses the pods that a pod of higher priority should replace on a node.
//
// kube-scheduler proposes victims from its own filters. Of these, only the victims whose resources
// are needed are kept. Victims are considered for a reprieve in kube-scheduler's own order
// (pkg/scheduler/framework/plugins/defaultpreemption): first pods whose eviction would violate a
// PodDisruptionBudget, then those of high priority.
//
// Threading: the functions are pure; a BoundedWait has one owner.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/reservation.h"
#include "core/clock.h"

namespace synergy {

struct Victims {
  std::vector<std::shared_ptr<const Pod>> pods;  // never empty
  int64_t disruption_budget_violations = 0;
};

// Returns a minimal set of `proposed` (UIDs) whose eviction makes room for `pod` on the node.
// Returns nullopt if all of them are not enough, if none of them exists any more, or if the tuner
// can reclaim enough CPU and memory instead. If the pod already fits, something other than
// resources blocks it. This function cannot judge that, so it keeps all proposed victims.
// `reclaims_at`: the time at which the tuner is expected to reclaim surplus (surplus.h); absent if
// it does not. With `reclaims_at`, the result is also nullopt for a node with fungible pods on
// which the pod fits: a cut may have made the room since kube-scheduler checked.
std::optional<Victims> SelectVictims(const ClusterSnapshot& snapshot, const Pod& pod,
                                     NodeIndex node, const std::vector<std::string>& proposed,
                                     std::optional<WallTime> reclaims_at = std::nullopt);

struct NodeVictims {
  std::string node;
  Victims victims;
};
// Calls SelectVictims() for every node of `proposed`. Omits nodes that are unknown or have no
// victims.
std::vector<NodeVictims> SelectVictimsByNode(
    const ClusterSnapshot& snapshot, const Pod& pod,
    const std::vector<std::pair<std::string, std::vector<std::string>>>& proposed,
    std::optional<WallTime> reclaims_at);

// Returns how many of `pods`, if evicted in this order, would violate a PodDisruptionBudget. Sets
// `violating[i]` for each of them.
int64_t CountBudgetViolations(const std::vector<DisruptionBudget>& budgets,
                              const std::vector<std::shared_ptr<const Pod>>& pods,
                              std::vector<bool>& violating);

// Limits how long each pod waits for a change that may never come.
class BoundedWait {
 public:
  // After `forget_after` without a call, a pod's next call begins a new wait.
  BoundedWait(Duration limit, Duration forget_after) : limit_(limit), forget_after_(forget_after) {}

  // Returns whether the pod may wait longer. Call it whenever it would wait. `version`: the version
  // of the awaited state. A new version begins a new wait if the previous wait was over, or if the
  // last call was more than `limit` ago.
  bool Lasts(const std::string& uid, Instant now, uint64_t version = 0);

 private:
  struct Asked {
    Instant first;
    Instant last;
    uint64_t version = 0;
    bool lasted = true;
  };

  const Duration limit_;
  const Duration forget_after_;
  std::map<std::string, Asked> asked_;
};

// Limits how long a pod waits for the tuner instead of evicting other pods, because the tuner may
// be down.
inline BoundedWait PreemptionDelay() {
  return {std::chrono::seconds(30), std::chrono::minutes(10)};
}

// Returns the places kept for lost gang members (cluster/state/replacements.h) whose release would
// make `pod` fit on the node. REQUIRES: `pod` does not fit there now. Chooses places of low
// priority first, until the pod fits. Returns none if the release of all places would not be
// enough.
std::vector<Reservation> ReservationsInTheWay(const Pod& pod, const NodeState& node,
                                              std::vector<Reservation> places);
// Returns whether the pod may take the places: its priority is higher than that of every pod for
// which a place is kept.
bool YieldTo(const Pod& pod, const std::vector<Reservation>& places);

}  // namespace synergy
