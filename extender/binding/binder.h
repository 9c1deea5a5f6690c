#pragma once

// Binds pods: assume, set the pod's own allocation, POST the Binding, and find out what became of
// it. One bind of a pod at a time, all of its calls within a deadline.
//
//   another one under way -> error, nothing done
//   an earlier one in doubt -> the API server is asked: bound: as it says; else only the same node
//                            may be tried, since that Binding may still be on its way
//   Assume fails          -> as it is, without an allocation; that fails too: error, nothing sent
//   no allocation         -> refused by a quota or a limit: bound as it is; else forgotten, error
//   the watch is behind   -> waited for, up to a second; no room then, or no news: undone, error
//   2xx                   -> bound; the watch confirms
//   a definite refusal    -> forgotten (if no earlier one is in doubt), error
//   no certain answer     -> the API server is asked: on our node: bound; elsewhere, gone: counted
//                            so, error; not bound or no answer: in doubt: error, and the place
//                            stays assumed until it is settled
//
// Threading: Bind and SettleExpired from any threads.
// Failures: an Error's message is what kube-scheduler shows in the pod's event.

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "engine/decisions.h"
#include "extender/binding/allocations.h"
#include "extender/calls.h"
#include "kube/apis/pod_api.h"
#include "metrics/extender_metrics.h"
#include "wire/extender/extender_messages.h"

namespace synergy::extender {

struct BinderTimes {
  Duration bind = std::chrono::seconds(13);    // for all of a bind: below kube-scheduler's patience
  Duration assume = std::chrono::seconds(30);  // until a bind in doubt is asked about
};

class Binder {
 public:
  // All references outlive the binder.
  Binder(ClusterState& state, kube::PodApi& pods, std::string gpu_resource,
         Allocations& allocations, const Clock& clock, Logger& log,
         metrics::ExtenderMetrics& metrics, BinderTimes times);

  // Tells `journal` with what each pod was planned, once it was tried. To be called once, before
  // the others; `journal`, which may be told from any thread, outlives them.
  void SetJournal(DecisionJournal* journal) { journal_ = journal; }

  // `request_id` goes into the log lines; `waited`: what of the time for a bind has passed already;
  // `common`: as PlanAtBind() of bind_allocation.h takes it.
  Result<> Bind(const wire::BindingArgs& args, const std::string& request_id, Duration waited = {},
                const std::optional<ResourceVector>& common = {});

  // For every assumed pod past its deadline, asks the API server what became of it; drops stale
  // expectations. To be called every second or so.
  void SettleExpired();

 private:
  // One call of Bind.
  struct Attempt {
    const wire::BindingArgs& args;
    const std::string& request_id;
    std::stop_token stop;   // its deadline
    bool in_doubt = false;  // what an earlier one has sent may still come through
  };

  // The pod that is to be bound, as the API server has it where an earlier bind is in doubt.
  Result<std::shared_ptr<const Pod>> Find(Attempt& attempt);
  // With what is planned, or as it is where that is not to be had.
  Result<> BindAsPlanned(const Attempt& attempt, const Pod& pod, Pod planned);
  AssumeOutcome Assume(const Attempt& attempt, const Pod& pod);
  // Whether there is still room once the watch has brought what was known to the API server when
  // the pod was `written` (its resource version): whatever the tuner has announced before counts,
  // and for what `planned` has beyond `pod` whatever kube-scheduler has promised.
  Result<> LookAgain(const Attempt& attempt, const Pod& pod, const Pod& planned, uint64_t written);
  Result<> CatchUp(const Attempt& attempt, const Pod& planned, uint64_t written);
  // The Binding of the pod as it was when `written`, or as it is now if that is still as planned.
  Result<> Send(const Attempt& attempt, const Pod& planned, uint64_t written,
                const kube::AnnotationChanges& annotations);
  // What the API server says after a Binding whose fate is not known; none if it was not made.
  std::optional<Result<>> Settle(const Attempt& attempt, const Error& error);
  void Forget(const Attempt& attempt, std::string_view why);
  Result<> Refuse(const wire::BindingArgs& args, std::string_view outcome, Error error);
  void SettleExpired(const AssumedPod& assumed, Instant now);

  ClusterState& state_;
  kube::PodApi& pods_;
  const std::string gpu_resource_;
  Allocations& allocations_;
  const Clock& clock_;
  Logger& log_;
  metrics::ExtenderMetrics& metrics_;
  const BinderTimes times_;
  BindTurns turns_;
  DecisionJournal* journal_ = nullptr;
};

}  // namespace synergy::extender
