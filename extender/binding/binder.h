#pragma once

// Binds pods: assumes the pod on its node, sets its CPU and memory, posts the Binding, and
// determines the outcome. A pod has at most one bind at a time, and one deadline covers all calls
// of the bind.
//
//   another bind of the pod  -> Error; nothing is sent.
//   an earlier bind in doubt -> Reads the pod from the API server. If the pod is bound, that result
//                               stands. Otherwise only the same node may be tried, because the
//                               earlier Binding may still take effect.
//   no room for the plan     -> Assumes the pod with its own requests. If there is no room for
//                               these, either: Error; nothing is sent.
//   the resize fails         -> After a refusal by a quota or a limit: binds the pod with its own
//                               requests. Otherwise: forgets the pod; Error.
//   the watch is behind      -> Waits for at most a second. If it is still behind, or the node has
//                               no room by then: reverts the resize, forgets the pod; Error.
//   Binding: 2xx             -> Success. The watch confirms it later.
//   Binding: refused         -> Forgets the pod, unless an earlier bind is in doubt; Error.
//   Binding: uncertain       -> Reads the pod from the API server. If it is on this node: success.
//                               If it is on another node, or gone: records that; Error. If it is
//                               not bound and the answer was a conflict: as if refused. Otherwise
//                               the bind is in doubt: Error, and SettleExpired() settles it later.
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
  Duration assume = std::chrono::seconds(30);  // until a bind in doubt is checked
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

  // Reads the assumed pods past their deadline from the API server, for at most two seconds, and
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

  // Returns the pod to be bound. Reads it from the API server if an earlier bind is in doubt or the
  // pod is not known yet.
  Result<std::shared_ptr<const Pod>> Find(Attempt& attempt);
  // Binds with the planned amounts; with the pod's own requests if there is no room for the plan.
  Result<> BindAsPlanned(const Attempt& attempt, const Pod& pod, Pod planned);
  AssumeOutcome Assume(const Attempt& attempt, const Pod& pod);
  // Waits until the watch has reached the resource version `written`, and then checks that the node
  // still has room. Growth that the tuner announced earlier uses room. Nominated pods use room only
  // against the amounts by which `planned` exceeds `pod`.
  Result<> LookAgain(const Attempt& attempt, const Pod& pod, const Pod& planned, uint64_t written);
  Result<> CatchUp(const Attempt& attempt, const Pod& planned, uint64_t written);
  // Posts the Binding on condition that the pod has the resource version `written`. After a
  // conflict, posts it for the current version if that one still has the planned requests.
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
