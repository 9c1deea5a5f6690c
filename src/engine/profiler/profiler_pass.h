#pragma once

// Holds the inputs, the state and the plan that the parts of the profiler use in one pass.
//
// Threading: one owner.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "cluster/managed_container.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "engine/profiler/profiler.h"
#include "engine/profiler/profiler_memory.h"

namespace synergy {

struct ProfilerPass {
  const ProfilerSettings& settings;
  const MeasuredCatalog& catalog;
  const ClusterSnapshot& cluster;
  const Moment at;
  ProfilerMemory& memory;
  ProfilerPlan& plan;

  void Do(ProfilerAction action) { plan.actions.push_back(std::move(action)); }
};

// Schedules the next examination of the measurement; nullopt: none.
inline void LookAgain(ProfilerMemory& memory, const MeasurementKey& key, Measurement& measurement,
                      std::optional<Instant> when) {
  if (measurement.due) memory.due.erase({*measurement.due, key});
  measurement.due = when;
  if (when) memory.due.insert({*when, key});
}

// Returns the name of the TrainingProfile in which the measurement is published.
inline std::string NameOf(const MeasurementKey& key) {
  return MeasuredName(key.workload, key.gpus, key.gpu_product, key.gang_size);
}

// Returns whether the pod is being resized, or was changed by hand.
inline bool IsBeingChanged(const Pod& pod) {
  const ManagedContainer& fungible = *pod.fungible;
  return !fungible.Settled() || fungible.Announced() || fungible.ChangedByHand() ||
         fungible.resize != ResizeState::kNone;
}

// Returns whether the agent reports a burst: the pod may use more CPU than its limit.
inline bool IsBursting(const WatchedPod& pod) {
  return pod.probe && !pod.probe->wiped && pod.pod->fungible->cpu_limit &&
         pod.probe->cpu > *pod.pod->fungible->cpu_limit;
}

// Drops the pod's samples because its circumstances have changed. With `from`, samples count again
// only after that time, by the node's clock.
inline void BreakOff(WatchedPod& pod, std::optional<WallTime> from) {
  pod.samples.clear();
  if (from) pod.count_from = pod.count_from ? std::max(*pod.count_from, *from) : *from;
}

}  // namespace synergy
