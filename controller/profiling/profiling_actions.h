#pragma once

// Carries out the profiler's decisions (engine/profiler/profiler.h) through API calls, metrics and
// log lines. It decides nothing itself. The node agent that carries out a probe reports it to users
// (nodeagent/guarded/prober.h).
//
// Threading: one owner. Failures: a failed action is logged, counted, and reported to the caller.

#include <functional>
#include <stop_token>

#include "cluster/state/cluster_state.h"
#include "controller/cluster/profile_store.h"
#include "core/log.h"
#include "core/result.h"
#include "engine/profiler/profiler.h"
#include "kube/apis/pod_api.h"
#include "kube/apis/profile_api.h"
#include "metrics/profiling_metrics.h"

namespace synergy::controller {

class ProfilingActions {
 public:
  // All references must outlive this object. The API server's answers about pods are stored in
  // `state`. `may_act` is checked before each call.
  ProfilingActions(ClusterState& state, const ProfileStore& profiles, kube::PodApi& pods,
                   kube::ProfileApi& profile_api, Logger& log, metrics::ProfilingMetrics& metrics,
                   std::function<bool()> may_act);

  // Returns an error unless the API server has accepted the action; kCancelled if this replica may
  // not act.
  Result<> Do(const ProfilerAction& action, const std::stop_token& stop);
  // Removes a probe's annotation from the pod. Once a probe has ended on its own, its annotation
  // only distracts readers of the pod.
  Result<> EndProbe(const Pod& pod, const std::stop_token& stop);

 private:
  // Returns kCancelled if no further call may be made. Each call may take long enough for another
  // replica to become the leader.
  Result<> MayAct(const std::stop_token& stop) const;
  Result<> Probe(const ProfilerAction& action, const std::stop_token& stop);
  Result<> Publish(const ProfilerAction& action, const std::stop_token& stop);
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
