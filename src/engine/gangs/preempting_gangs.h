#pragma once

// Which gangs wait though others of lower priority run, and whom each of them would have to replace
// (docs/gangs.md). kube-scheduler's own pre-emption looks at one pod at a time, so that it would
// evict for a gang that cannot run even then; the extender tells it that this is of no use, and
// somebody else looks at gangs as a whole: the controller.
//
// Threading: pure.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "allocation/gangs/gang_victims.h"
#include "cluster/claims.h"
#include "cluster/gang.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "core/resources.h"

namespace synergy {

struct GangPreemptionRules {
  std::string scheduler_name = kDefaultSchedulerName;
  // How long all of a gang's pods have to have been Unschedulable: until then room may come by
  // itself, or by cuts.
  Duration patience = std::chrono::seconds(10);
};

// Whether all of the gang's pods are there, or one with GPUs runs.
bool IsWhole(const ClusterSnapshot& snapshot, const Gang& gang);

// One that may have others evicted.
struct WaitingGang {
  std::string name;  // with the namespace
  int32_t priority = 0;
  WallTime since{};                                 // when the last of its pods began to wait
  std::vector<std::shared_ptr<const Pod>> members;  // with GPUs and without a node

  bool operator==(const WaitingGang&) const = default;
};

// The highest priority first, of equals the one that has waited longest. `waiting`: the cluster's
// GPU pods that have no node (ClusterState::WaitingPods). Left out is a gang
//   * of which members do not exist yet, while none of it runs
//   * with a member that is not Unschedulable by our scheduler, for `patience`
//   * with a member that says preemptionPolicy: Never
//   * than whose nobody's priority is lower who may be evicted
std::vector<WaitingGang> GangsToPreemptFor(const ClusterSnapshot& snapshot,
                                           const std::vector<std::shared_ptr<const Pod>>& waiting,
                                           const GangPreemptionRules& rules, WallTime now);

// Pods that Synergy manages, or without GPUs in a gang of such, and Kueue does not: its jobs would
// keep their quota while their pods wait, and their queue has a pre-emption of its own.
bool MayBeEvicted(const Pod& pod);

// As SelectGangVictims(); kept free on every node: `headroom`.
std::optional<GangVictims> VictimsOf(const ClusterSnapshot& snapshot, const WaitingGang& gang,
                                     const ResourceVector& headroom, WallTime now);

// Where a waiting pod is to go.
struct PlannedPlace {
  std::shared_ptr<const Pod> pod;
  std::string node;
};

// Whether `places`, all of one gang, have room beside `taken`, when the pods with the uids
// `leaving` have left, and all that the gang need not wait for: who is about to go, what can be
// cut, and what is kept for lower priorities.
bool FitBeside(const ClusterSnapshot& snapshot, const std::vector<PlannedPlace>& places,
               const std::vector<PlannedPlace>& taken, const std::set<std::string>& leaving,
               WallTime now);

}  // namespace synergy
