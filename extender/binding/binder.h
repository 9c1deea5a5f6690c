#pragma once

// Binds pods: assumes the pod on its node, sets its own allocation, posts the Binding, and
// determines the outcome. Each pod has one bind at a time, with all its calls within a deadline.
//
//   another bind runs    -> error, nothing done
//   an earlier in doubt  -> queries the API server: bound: accepts that; otherwise only the same
//                           node may be tried, because that Binding may still take effect
//   Assume fails         -> assumes the pod as it is, without an allocation; if that fails, too:
//                           error, nothing sent
//   no allocation        -> refused by a quota or a limit: binds the pod as it is; otherwise
//                           forgotten, error
//   the watch is behind  -> waits up to a second; no room then, or no events: undone, error
//   2xx                  -> bound; the watch confirms
//   a definite refusal   -> forgotten (if no earlier one is in doubt), error
//   no certain answer    -> queries the API server: on our node: bound; elsewhere, or gone:
//                           counted as such, error; not bound after a conflict: forgotten, error;
//                           otherwise not bound, or no answer: in doubt: error, and the place
//                           stays assumed until it is settled
//
// Threading: any thread may call Bind and SettleExpired. Failures: kube-scheduler shows an Error's
// message in the pod's event.

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
  Duration bind = std::chrono::seconds(13);    // for a whole bind: below kube-scheduler's timeout
  Duration assume = std::chrono::seconds(30);  // before a bind in doubt is checked
};

class Binder {
 public:
  // All references must outlive the binder.
  Binder(ClusterState& state, kube::PodApi& pods, std::string gpu_resource,
         Allocations& allocations, const Clock& clock, Logger& log,
         metrics::ExtenderMetrics& metrics, BinderTimes times);

  // Makes Bind() write its plan for each pod to `journal`, after the attempt. Call it once, before
  // the other functions; `journal` must outlive them, and any thread writes to it.
  void SetJournal(DecisionJournal* journal) { journal_ = journal; }

  // `request_id` goes into the log lines. `waited`: the part of the time for a bind that has
  // already passed. `common`: the same as in PlanAtBind() of bind_allocation.h.
  Result<> Bind(const wire::BindingArgs& args, const std::string& request_id, Duration waited = {},
                const std::optional<ResourceVector>& common = {});

  // Checks with the API server the assumed pods past their deadline, for two seconds at most, and
  // drops stale expectations. Call it about every second.
  void SettleExpired();

 private:
  // One call of Bind.
  struct Attempt {
    const wire::BindingArgs& args;
    const std::string& request_id;
    std::stop_token stop;   // stops at its deadline
    bool in_doubt = false;  // an earlier bind may still take effect
  };

  // Returns the pod to be bound, in the API server's state if an earlier bind is in doubt.
  Result<std::shared_ptr<const Pod>> Find(Attempt& attempt);
  // Binds with the planned amounts, or with the pod's own if those are not available.
  Result<> BindAsPlanned(const Attempt& attempt, const Pod& pod, Pod planned);
  AssumeOutcome Assume(const Attempt& attempt, const Pod& pod);
  // Waits for the watch to catch up with the time at which the pod was `written` (its resource
  // version), and then checks whether there is still room. Growth that the tuner announced earlier
  // counts. Against the amounts of `planned` beyond those of `pod`, nominated pods also count.
  Result<> LookAgain(const Attempt& attempt, const Pod& pod, const Pod& planned, uint64_t written);
  Result<> CatchUp(const Attempt& attempt, const Pod& planned, uint64_t written);
  // Posts the Binding of the pod as `written`, or of its present state if that is still as planned.
  Result<> Send(const Attempt& attempt, const Pod& planned, uint64_t written,
                const kube::AnnotationChanges& annotations);
  // Determines the outcome of a Binding with an uncertain answer; nullopt if it was not made.
  std::optional<Result<>> Settle(const Attempt& attempt, const Error& error);
  void Forget(const Attempt& attempt, std::string_view why);
  Result<> Refuse(const wire::BindingArgs& args, std::string_view outcome, Error error);
  void SettleExpired(const AssumedPod& assumed, Instant now, const std::stop_token& stop);

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
