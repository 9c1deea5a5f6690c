#pragma once

// Carries out what the profiler has decided (engine/profiler/profiler.h): calls of the API server,
// metrics, log lines. Nothing is decided here. Who carries a probe out tells people of it
// (nodeagent/probes/prober.h).
//
// Threading: one owner.
// Failures: an action that fails is logged and counted, and its caller told.

#include <functional>
#include <stop_token>

#include "cluster/state/cluster_state.h"
#include "controller/cluster/profile_store.h"
#include "core/log.h"
#include "engine/profiler/profiler.h"
#include "kube/apis/pod_api.h"
#include "kube/apis/profile_api.h"
#include "metrics/profiling_metrics.h"

namespace synergy::controller {

class ProfilingActions {
 public:
  // All references outlive this. What the API server answers about pods goes into `state`.
  // `may_act` is asked before each call.
  ProfilingActions(ClusterState& state, const ProfileStore& profiles, kube::PodApi& pods,
                   kube::ProfileApi& profile_api, Logger& log, metrics::ProfilingMetrics& metrics,
                   std::function<bool()> may_act);

  // Whether the API server has taken it.
  bool Do(const ProfilerAction& action, const std::stop_token& stop);
  // Takes the annotation of a probe from the pod. One that has ended by itself is no more than in
  // the way of whoever reads the pod.
  bool EndProbe(const Pod& pod, const std::stop_token& stop);

 private:
  bool Probe(const ProfilerAction& action, const std::stop_token& stop);
  bool Publish(const ProfilerAction& action, const std::stop_token& stop);
  Result<> Write(const ProfilerAction& action, const std::string& name,
                 const std::stop_token& stop);

  ClusterState& state_;
  const ProfileStore& profiles_;
  kube::PodApi& pods_;
  kube::ProfileApi& profile_api_;
  Logger& log_;
  metrics::ProfilingMetrics& metrics_;
  const std::function<bool()> may_act_;
};

}  // namespace synergy::controller
