#pragma once

// Carries out single actions of the tuner (engine/tuner/tuner.h) through API calls, events, metrics
// and log lines. It decides nothing itself.
//
// Threading: any thread, but only one action per pod at a time. Failures: a failed action is
// logged, counted, and reported to the caller.

#include <functional>
#include <string_view>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "engine/tuner/tuner_actions.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "metrics/tuner_metrics.h"

namespace synergy::controller {

class TunerCalls {
 public:
  // All references must outlive this object. The API server's answers are stored in `state`.
  // `may_act` is checked before each call.
  TunerCalls(ClusterState& state, kube::PodApi& pods, kube::EventRecorder& events,
             const Clock& clock, Logger& log, metrics::TunerMetrics& metrics,
             std::function<bool()> may_act);

  // Returns whether the API server has accepted the action.
  bool Do(const TunerAction& action);

 private:
  bool Do(const Pod& pod, const tuner_action::KeepPlace& place);
  bool Do(const Pod& pod, const tuner_action::EndPlace& place);
  bool Do(const Pod& pod, const tuner_action::Remind& reminder);
  bool Do(const Pod& pod, const tuner_action::Announce& step);
  bool Do(const Pod& pod, const tuner_action::Resize& step);
  bool Do(const Pod& pod, const tuner_action::Record& step);
  bool Do(const Pod& pod, const tuner_action::Withdraw& step);
  bool Do(const Pod& pod, const tuner_action::PutBack& step);
  bool Do(const Pod& pod, const tuner_action::Notify& notice);
  bool WriteChange(const Pod& pod, const tuner_action::ChangeStep& step);

  // Make the calls; none is made if this process may no longer act.
  Result<Pod> Annotate(const Pod& pod, const kube::AnnotationChanges& changes,
                       kube::Precondition precondition = kube::Precondition::kSamePod);
  // Resizes the pod; refused with kConflict if anything in the pod has changed since.
  Result<Pod> ResizeUnchanged(const Pod& pod, const ChangeRecord& change);
  // Resizes the pod; refused with kConflict if the pod no longer requests `change.from`.
  // `unless_made`: also refused if the kubelet already runs the pod with `change.from`.
  Result<Pod> ResizeFrom(const Pod& pod, const ChangeRecord& change, bool unless_made = false);

  // Applies the answer to `state`; logs a failure with the message `failed`.
  bool Took(const Result<Pod>& answer, const Pod& pod, std::string_view failed);
  // Counts and logs a change that was made, and records an event.
  void ReportChange(const Pod& pod, const ChangeRecord& change);

  ClusterState& state_;
  kube::PodApi& pods_;
  kube::EventRecorder& events_;
  const Clock& clock_;
  Logger& log_;
  metrics::TunerMetrics& metrics_;
  const std::function<bool()> may_act_;
};

}  // namespace synergy::controller
