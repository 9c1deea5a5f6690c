#pragma once

// Finds gangs that wait while gangs or pods of lower priority run, and the pods that each would
// have to replace (docs/internals/gangs.md). kube-scheduler's own preemption looks at one pod at a
// time, so it would evict pods for a gang that cannot run even then. The extender therefore rejects
// such evictions, and the controller preempts for gangs as a whole.
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
  // How long all pods of a gang must have been Unschedulable. Until then room may become free
  // without evictions, or by cuts.
  Duration patience = std::chrono::seconds(10);
};

// Whether all of the gang's pods exist, or one with GPUs runs.
bool IsWhole(const ClusterSnapshot& snapshot, const Gang& gang);

// A gang for which pods may be evicted.
struct WaitingGang {
  std::string name;  // with the namespace
  int32_t priority = 0;
  WallTime since{};                                 // when the last of its pods began to wait
  std::vector<std::shared_ptr<const Pod>> members;  // with GPUs and without a node

  bool operator==(const WaitingGang&) const = default;
};

// Returns the gangs to preempt for, highest priority first, and among equals the one that has
// waited longest. `waiting`: the cluster's GPU pods without a node (ClusterState::WaitingPods).
// Leaves out a gang
//   * with members that do not exist yet, if none of it runs
//   * with a member that our scheduler has not marked Unschedulable for `patience`
//   * with a member that has preemptionPolicy: Never
//   * if no pod of lower priority may be evicted
std::vector<WaitingGang> GangsToPreemptFor(const ClusterSnapshot& snapshot,
                                           const std::vector<std::shared_ptr<const Pod>>& waiting,
                                           const GangPreemptionRules& rules, WallTime now);

// Whether Synergy manages the pod, or it is a pod without GPUs in a managed gang, and Kueue does
// not manage it: jobs of Kueue keep their quota while their pods wait, and its queues preempt on
// their own.
bool MayBeEvicted(const Pod& pod);

// As SelectGangVictims(), with `headroom` kept free on every node.
std::optional<GangVictims> VictimsOf(const ClusterSnapshot& snapshot, const WaitingGang& gang,
                                     const ResourceVector& headroom, WallTime now);

// Planned node of a waiting pod.
struct PlannedPlace {
  std::shared_ptr<const Pod> pod;
  std::string node;
};

// Whether `places`, all of one gang, have room beside `taken` once the pods with the uids `leaving`
// have left. Also counts as free what the gang need not wait for: pods that are being deleted, what
// can be cut, and what is kept for lower priorities.
bool FitBeside(const ClusterSnapshot& snapshot, const std::vector<PlannedPlace>& places,
               const std::vector<PlannedPlace>& taken, const std::set<std::string>& leaving,
               WallTime now);

}  // namespace synergy
