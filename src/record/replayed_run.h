#pragma once

// Replays one run of a program: it applies the same changes to a ClusterState, and repeats each
// decision with the program's own functions. Private to this folder.
//
// Threading: one owner.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "cluster/state/cluster_journal.h"
#include "cluster/state/cluster_state.h"
#include "core/result.h"
#include "engine/decisions.h"
#include "engine/profile_catalog.h"
#include "engine/storage/measured_storage.h"
#include "engine/tuner/tuner.h"

namespace synergy::record {

class ReplayedRun {
 public:
  // Applies the change. Returns kConflict as ClusterState::Apply() does.
  Result<> Change(const ClusterChange& change);
  // Repeats the decision on the present ClusterState, from the inputs in `recorded`. If `recorded`
  // only reports an input of later decisions, applies it and returns it unchanged.
  Decision Decide(const Decision& recorded);

 private:
  Decision Again(decision::Filter recorded);
  Decision Again(decision::Prioritize recorded);
  Decision Again(decision::Bind recorded);
  Decision Again(decision::Preempt recorded);
  Decision Again(decision::TunerSet recorded);
  Decision Again(decision::ProfilesHeld recorded);
  Decision Again(decision::TunerStartedOver recorded);
  Decision Again(decision::TunerDecided recorded);
  Decision Again(decision::TunerLearned recorded);
  Decision Again(decision::IdleReported recorded);
  Decision Again(decision::StorageReported recorded);
  Decision Again(decision::ReservationsReported recorded);

  ClusterState state_;
  HeldProfiles profiles_;
  MeasuredStorage storage_{profiles_};
  std::optional<Tuner> tuner_{std::in_place, TunerSettings{}, profiles_, &storage_};
  TunerMemory memory_;
  std::deque<PodNews> news_;               // not yet passed to the tuner
  std::map<uint64_t, TunerAction> asked_;  // by number; their outcomes have not been replayed yet
};

}  // namespace synergy::record
