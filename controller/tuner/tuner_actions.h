#pragma once

// Carries out what the tuner has decided (engine/tuner/tuner.h): calls of the API server, events,
// metrics, log lines. Nothing is decided here.
//
// Threading: from any thread, but one action of a pod at a time.
// Failures: an action that fails is logged and counted, and its caller told.

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

class TunerActions {
 public:
  // All references outlive this. What the API server answers goes into `state`. `may_act` is asked
  // before each call.
  TunerActions(ClusterState& state, kube::PodApi& pods, kube::EventRecorder& events,
               const Clock& clock, Logger& log, metrics::TunerMetrics& metrics,
               std::function<bool()> may_act);

  // Whether the API server has taken it.
  bool Do(const TunerAction& action);

 private:
  bool KeepPlace(const TunerAction& action);
  bool EndPlace(const TunerAction& action);
  bool Remind(const TunerAction& action);
  bool WriteChange(const TunerAction& action);
  bool Resize(const TunerAction& action);
  bool Withdraw(const TunerAction& action);
  bool PutBack(const TunerAction& action);
  bool Tell(const TunerAction& action);

  // The calls; none is made where we may not act any more.
  Result<Pod> Annotate(const Pod& pod, const kube::AnnotationChanges& changes,
                       kube::Precondition precondition = kube::Precondition::kSamePod);
  // Refused with kConflict if anything of the pod has changed since.
  Result<Pod> ResizeUnchanged(const Pod& pod, const ChangeRecord& change);
  // Refused with kConflict if the pod does not ask for `change.from` any more.
  Result<Pod> ResizeFrom(const Pod& pod, const ChangeRecord& change);

  // Takes over the answer; a failure is logged in the words `failed`.
  bool Took(const Result<Pod>& answer, const Pod& pod, std::string_view failed);
  void TellOfChange(const TunerAction& action);

  ClusterState& state_;
  kube::PodApi& pods_;
  kube::EventRecorder& events_;
  const Clock& clock_;
  Logger& log_;
  metrics::TunerMetrics& metrics_;
  const std::function<bool()> may_act_;
};

}  // namespace synergy::controller
