#pragma once

// Carries out the tuner's actions in the background: several at a time, urgent ones first, and each
// pod's actions in the order of Submit(). The rate of PATCHes is limited to protect the API server.
//
//   Submit -> queue -> a thread of its own -> TunerCalls -> TakeOutcomes
//
// Threading: one owner; it has its own threads, one for each action that may be in progress.
// Failures: the outcome reports a failed action. No action begins while `may_act` returns false.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "controller/tuner/tuner_calls.h"
#include "core/clock.h"
#include "engine/tuner/tuner_actions.h"

namespace synergy::controller {

// The outcome of an action.
struct ActionOutcome {
  uint64_t number = 0;
  bool done = false;       // the API server has accepted it
  bool kept_from = false;  // not tried or not finished, because this process may no longer act
  Moment at;
};

class ActionExecutor {
 public:
  virtual ~ActionExecutor() = default;

  virtual void Submit(uint64_t number, const TunerAction& action) = 0;
  // Returns outcomes in the order in which they occurred.
  virtual std::vector<ActionOutcome> TakeOutcomes() = 0;
  // Drops all actions that have not begun, and the outcomes of all others.
  virtual void Abandon() = 0;
};

struct ExecutorSettings {
  size_t at_once = 8;
  int64_t patches_per_second = 50;
};

// All references must outlive it. Its threads call `on_outcome`.
std::unique_ptr<ActionExecutor> MakeActionExecutor(TunerCalls& calls, std::function<bool()> may_act,
                                                   std::function<void()> on_outcome,
                                                   const Clock& clock, ExecutorSettings settings);

// Carries out each action within Submit(), without a rate limit.
std::unique_ptr<ActionExecutor> MakeSerialExecutor(TunerCalls& calls, std::function<bool()> may_act,
                                                   const Clock& clock);

}  // namespace synergy::controller
