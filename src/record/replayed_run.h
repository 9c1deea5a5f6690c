#pragma once

// One run of a program, gone through again: the same changes of a ClusterState, and each decision
// made anew by the functions by which the program made it. Private to this folder.
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
#include "engine/profile_book.h"
#include "engine/tuner/tuner.h"

namespace synergy::record {

class ReplayedRun {
 public:
  // kConflict as Apply() of cluster_journal.h.
  Result<> Change(const ClusterChange& change);
  // The decision that is made of what `recorded` read, on the cluster as it is now. What is no
  // decision of its own is taken in, and comes back as it is.
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

  ClusterState state_;
  HeldProfiles profiles_;
  std::optional<Tuner> tuner_{std::in_place, TunerSettings{}, profiles_};
  TunerMemory memory_;
  std::deque<PodNews> news_;               // that the tuner has not heard yet
  std::map<uint64_t, TunerAction> asked_;  // by number: of which it has not learned yet
};

}  // namespace synergy::record
