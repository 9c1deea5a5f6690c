#pragma once

// Holds the data that all parts of the tuner share during one call of Tuner::Plan().
//
// Threading: one owner.

#include <algorithm>

#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "engine/profile_catalog.h"
#include "engine/tuner/node_shares.h"
#include "engine/tuner/tuner.h"
#include "engine/tuner/tuner_memory.h"

namespace synergy {

struct TunerPass {
  const TunerSettings& settings;
  const ProfileCatalog& profiles;
  const StorageCatalog* storage;
  const ClusterSnapshot& cluster;
  const Moment at;
  TunerMemory& memory;
  TunerPlan& plan;

  ShareRules rules() const {
    return {.profiles = profiles,
            .memory = memory,
            .at = at,
            .round = settings.round,
            .max_speed_up = settings.max_speed_up,
            .limits = &cluster.limits(),
            .cluster = &cluster,
            .within_counted = settings.within_counted,
            .storage = storage};
  }
  void Do(TunerAction action) { plan.actions.push_back(std::move(action)); }
  void WakeAt(Instant when) { plan.wake = std::min(plan.wake, when); }
};

// Makes the next search for room consider all nodes again, because there may be room although no
// node has changed.
inline void LookAnew(TunerMemory& memory) {
  for (WaitingKind& kind : memory.kinds) kind.looked_at = 0;
  for (auto& [name, gang] : memory.gangs) gang.looked_at = 0;
  for (auto& [uid, waiting] : memory.waiting) waiting.looked_at = 0;
}

// Returns `first`, doubled `count` times, but at most `round`.
inline Duration Doubled(Duration first, int count, Duration round) {
  return std::min<Duration>(first * (1 << std::min(count, 10)), round);
}

}  // namespace synergy
