#pragma once

// Carries out actions of the tuner while it goes on: several at a time, those first for which
// somebody waits, each pod's in the order in which they were asked for, and no more PATCHes a
// second than the API server is to be troubled with.
//
//   Ask -> queue -> a thread of its own -> TunerActions -> TakeOutcomes
//
// Threading: one owner; threads of its own, as many as actions may be under way.
// Failures: an action that fails is an outcome. Nothing is begun while `may_act` says no.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "controller/tuner/tuner_actions.h"
#include "core/clock.h"
#include "engine/tuner/tuner_actions.h"

namespace synergy::controller {

// What came of an action.
struct ActionOutcome {
  uint64_t number = 0;
  bool done = false;       // the API server has taken it
  bool kept_from = false;  // it was not tried, or not to the end, because we may not act any more
  Moment at;
};

class TunerHands {
 public:
  virtual ~TunerHands() = default;

  virtual void Ask(uint64_t number, const TunerAction& action) = 0;
  // In the order in which they came about.
  virtual std::vector<ActionOutcome> TakeOutcomes() = 0;
  // What has not begun is dropped, and of what has nothing is told any more.
  virtual void Abandon() = 0;
};

struct HandsSettings {
  size_t at_once = 8;
  int64_t patches_per_second = 50;
};

// All references outlive it. `on_outcome` is called from its threads.
std::unique_ptr<TunerHands> MakeTunerHands(TunerActions& actions, std::function<bool()> may_act,
                                           std::function<void()> on_outcome, const Clock& clock,
                                           HandsSettings settings);

// One that carries out everything within Ask, at any rate.
std::unique_ptr<TunerHands> MakeSerialHands(TunerActions& actions, std::function<bool()> may_act,
                                            const Clock& clock);

}  // namespace synergy::controller
