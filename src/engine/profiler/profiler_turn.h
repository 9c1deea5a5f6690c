#pragma once

// One decision of the profiler in the making: what its parts read, and where they write.
//
// Threading: one owner.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "engine/profiler/profiler.h"
#include "engine/profiler/profiler_memory.h"

namespace synergy {

struct ProfilerTurn {
  const ProfilerSettings& settings;
  const MeasuredBook& book;
  const ClusterSnapshot& cluster;
  const Moment at;
  ProfilerMemory& memory;
  ProfilerDecision& decision;

  void Do(ProfilerAction action) { decision.actions.push_back(std::move(action)); }
};

// The measurement is to be looked at again then.
inline void LookAgain(ProfilerMemory& memory, const MeasurementKey& key, Measurement& measurement,
                      std::optional<Instant> when) {
  if (measurement.due) memory.due.erase({*measurement.due, key});
  measurement.due = when;
  if (when) memory.due.insert({*when, key});
}

// Of the TrainingProfile in which it is published.
inline std::string NameOf(const MeasurementKey& key) {
  return MeasuredName(key.workload, key.gpus, key.gpu_product, key.gang_size);
}

// What was told of the pod until now is of other circumstances: counting begins anew, with what the
// node's clock puts after `from`.
inline void BreakOff(WatchedPod& pod, std::optional<WallTime> from) {
  pod.samples.clear();
  if (from) pod.count_from = pod.count_from ? std::max(*pod.count_from, *from) : *from;
}

}  // namespace synergy
