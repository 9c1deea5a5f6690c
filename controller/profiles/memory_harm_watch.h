#pragma once

// Looks for pods that were OOM killed, or evicted for memory, soon after a change of their memory
// (engine/profiler/memory_harm.h): counts them, says so on the pod, and has the pod's memory left
// as it is for good (annotation synergy.io/memory-let-be, which outlives this process).
//
// A pod that has failed leaves the watch as it was before: so of one that goes by itself soon after
// a change the API server is asked how it ended.
//
// Threading: one owner.
// Failures: what the API server does not take is tried again with the next Act(), until the time to
// watch for it is over.

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

class MemoryHarmWatch {
 public:
  // All references outlive this. `may_act`: whether this process leads, asked before each call.
  // `watch`: how long after a change.
  MemoryHarmWatch(ClusterState& state, kube::PodApi& pods, kube::EventRecorder& events,
                  std::function<bool()> may_act, const Clock& clock, Logger& log,
                  metrics::TunerMetrics& metrics, Duration watch);

  void Hear(const PodNews& news);
  // Makes the calls that are due, while it leads.
  void Act();
  // Whether there is something left to try again.
  bool pending() const { return !suspects_.empty(); }

 private:
  struct Suspect {
    std::shared_ptr<const Pod> pod;
    bool gone = false;
  };

  // Whether there is nothing more to do about it.
  bool LookAt(const Suspect& suspect);
  bool LetBe(const Pod& pod, MemoryHarm harm);
  void Tell(const Pod& pod, MemoryHarm harm);

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
