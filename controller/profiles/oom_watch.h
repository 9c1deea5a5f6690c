#pragma once

// Detects pods that were OOM killed, or evicted for memory, soon after a change of their memory
// (engine/profiler/memory_harm.h). It counts them, reports each with an event on the pod, and stops
// all further changes of the pod's memory (annotation synergy.io/memory-let-be, which outlives this
// process).
//
// The watch's last copy of a failed pod predates its failure. So when a pod that was not deleted
// leaves the watch soon after a change, OomWatch reads from the API server how the pod ended.
//
// Threading: one owner. Failures: a failed call is retried at the next Act(), for as long as the
// pod is watched after the change.

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "engine/profiler/memory_harm.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "metrics/tuner_metrics.h"

namespace synergy::controller {

class OomWatch {
 public:
  // All references must outlive this object. `may_act`: returns whether this process leads; checked
  // before each call. `watch`: how long to watch after a change.
  OomWatch(ClusterState& state, kube::PodApi& pods, kube::EventRecorder& events,
           std::function<bool()> may_act, const Clock& clock, Logger& log,
           metrics::TunerMetrics& metrics, Duration watch);

  void Observe(const PodNews& news);
  // Makes the calls that are due, while this process leads.
  void Act();
  // Returns whether a call must be retried.
  bool pending() const { return !suspects_.empty(); }

 private:
  struct Suspect {
    std::shared_ptr<const Pod> pod;
    bool gone = false;
  };

  // Returns whether the suspect needs no further call.
  bool LookAt(const Suspect& suspect);
  bool StopResizing(const Pod& pod, MemoryHarm harm);
  void Report(const Pod& pod, MemoryHarm harm);

  ClusterState& state_;
  kube::PodApi& pods_;
  kube::EventRecorder& events_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  Logger& log_;
  metrics::TunerMetrics& metrics_;
  const Duration watch_;
  std::map<std::string, Suspect> suspects_;  // by uid
};

}  // namespace synergy::controller
