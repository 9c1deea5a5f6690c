#pragma once

// Drives the tuner (engine/tuner/tuner.h) in the cluster: hears the news, has it decide, has the
// actions carried out and feeds back what came of them, until there is nothing more to do.
//
// Threading: one owner.
// Failures: an action that fails is the tuner's to deal with. All state that matters is on the
// pods, so that a successor goes on from there.

#include <cstdint>
#include <map>

#include "cluster/state/cluster_state.h"
#include "controller/profiles/memory_harm_watch.h"
#include "controller/profiles/tuner_profiles.h"
#include "controller/tuner/tuner_hands.h"
#include "core/clock.h"
#include "engine/decisions.h"
#include "engine/tuner/tuner.h"
#include "metrics/tuner_metrics.h"

namespace synergy::controller {

// The parts that not every driver has; null: it has none.
struct TunerDriverParts {
  TunerProfiles* profiles = nullptr;   // the tuner's, held still for each decision
  MemoryHarmWatch* harm = nullptr;     // hears all news, too, and acts
  DecisionJournal* journal = nullptr;  // told of every decision and of what came of it
};

class TunerDriver {
 public:
  // All that it refers to outlives this.
  TunerDriver(const Tuner& tuner, ClusterState& state, TunerHands& hands, const Clock& clock,
              metrics::TunerMetrics& metrics, TunerDriverParts parts = {});

  // Looks at everything anew, because somebody else has been at work meanwhile: to be called on
  // becoming the leader.
  void StartOver();
  // From now on nothing is decided here, until StartOver.
  void Rest();

  // Does what is to be done now. To be called when something was heard, when an action has come to
  // its end, and when wake() comes.
  void Step();
  Instant wake() const { return wake_; }

 private:
  // False when an action was kept from us.
  bool LearnOutcomes();
  // Whether there may be more to do.
  bool DecideAndDo();
  void LookForHarm();
  void Tell(const Decision& decision) {
    if (parts_.journal != nullptr) parts_.journal->Wrote(decision);
  }

  const Tuner& tuner_;
  ClusterState& state_;
  TunerHands& hands_;
  const Clock& clock_;
  metrics::TunerMetrics& metrics_;
  const TunerDriverParts parts_;
  TunerMemory memory_;
  std::map<uint64_t, TunerAction> asked_;  // by number: of what nobody has told us the outcome
  uint64_t next_number_ = 0;
  Instant wake_{};
  bool interrupted_ = false;  // not all actions of a decision were carried out
};

}  // namespace synergy::controller
