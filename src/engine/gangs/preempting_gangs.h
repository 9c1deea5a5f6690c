#pragma once

// Finds the gangs that wait while gangs or pods of lower priority run, and the pods that each of
// them would have to replace (docs/internals/gangs.md). kube-scheduler's own preemption considers
// one pod at a time, so it would evict pods for a gang that could still not run. So the extender
// rejects these evictions, and the controller preempts for gangs as a whole.
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
  // How long all pods of a gang must have been Unschedulable. Until then, room may become free
  // without evictions, for example through cuts.
  Duration patience = std::chrono::seconds(10);
};

// Returns whether all of the gang's pods exist or have Succeeded, or one with GPUs runs.
bool IsWhole(const ClusterSnapshot& snapshot, const Gang& gang);

// A gang for which pods may be evicted.
struct WaitingGang {
  std::string name;  // with the namespace
  int32_t priority = 0;
  WallTime since{};                                 // when the last of its pods began to wait
  std::vector<std::shared_ptr<const Pod>> members;  // with GPUs and without a node

  bool operator==(const WaitingGang&) const = default;
};

// Returns the gangs to preempt for, highest priority first; among equals, the longest wait comes
// first. `waiting`: the cluster's GPU pods without a node (ClusterState::WaitingPods). Leaves out a
// gang if
//   * some of its members do not exist yet and none of them runs
//   * a member has not been marked Unschedulable by our scheduler for at least `patience`
//   * a member waits for something that no node and no eviction can provide
//   * a member has preemptionPolicy: Never
//   * no pod of lower priority may be evicted
std::vector<WaitingGang> GangsToPreemptFor(const ClusterSnapshot& snapshot,
                                           const std::vector<std::shared_ptr<const Pod>>& waiting,
                                           const GangPreemptionRules& rules, WallTime now);

// Returns whether the pod may be evicted: Synergy manages it, or it is a pod without GPUs in a
// managed gang, and Kueue does not manage it. Kueue's jobs keep their quota while their pods wait,
// and Kueue's queues preempt on their own.
bool MayBeEvicted(const Pod& pod);

// Chooses victims as SelectGangVictims() does, with `headroom` kept free on every node.
std::optional<GangVictims> VictimsOf(const ClusterSnapshot& snapshot, const WaitingGang& gang,
                                     const ResourceVector& headroom, WallTime now);

// The planned node of a waiting pod.
struct PlannedPlace {
  std::shared_ptr<const Pod> pod;
  std::string node;
};

// Returns whether `places`, all of one gang, have room beside `taken` once the pods with the uids
// `leaving` have left. Room that needs no eviction also counts as free: that of pods that are being
// deleted, amounts that can be cut, and room kept for lower priorities.
bool FitBeside(const ClusterSnapshot& snapshot, const std::vector<PlannedPlace>& places,
               const std::vector<PlannedPlace>& taken, const std::set<std::string>& leaving,
               WallTime now);

}  // namespace synergy
