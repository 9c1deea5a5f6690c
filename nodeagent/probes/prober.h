#pragma once

// Carries out the probes that the controller asks for (the annotation synergy.io/probe; docs/
// profiling.md): a pod of the node gets a CPU quota for a moment, so that it is seen how fast it
// trains with less. One at a time on a node.
//
//   annotation seen --> begun --> its time is over                                    done
//        |                +-----> the annotation or the container is another, or gone ended_early
//        |                +-----> either, and somebody, as a resize, rewrote the quota wiped
//        +--> another one is under way, or it cannot be                               refused
//
// What is on pods when the agent starts is not begun: an earlier agent may have died of it, and
// half a probe says nothing.
//
// Threading: Step by one thread, Readings by any.
// Failures: the guardian takes a quota away that this process does not come to end (guardian.h).

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "metrics/node_agent_metrics.h"
#include "nodeagent/cgroups/node_pods.h"
#include "nodeagent/probes/cpu_quota.h"
#include "nodeagent/probes/guardian.h"
#include "profile/pod_progress.h"

namespace synergy::nodeagent {

class Prober {
 public:
  // All references outlive the prober.
  Prober(const NodePods& pods, CpuQuotas& quotas, QuotaWriter& writer, const Clock& clock,
         Logger& log, kube::EventRecorder& events, metrics::NodeAgentMetrics& metrics);

  // Looks once at the pods and at the quota; says after how long to look again.
  Duration Step();

  // By uid.
  std::map<std::string, ProbeReading> Readings() const;

 private:
  struct Running {
    PodPointer pod;  // as it was when the probe began
    std::string container_id;
    CpuProbe probe;
    QuotaPlan plan;
    Instant end;
    ProbeReading reading;
  };

  void LookAtRunning(const std::map<std::string, PodPointer>& pods);
  void LookAtQuota(Running& running);
  void End(std::string_view outcome);
  void Begin(const PodPointer& pod, const wire::ResizeStatus::Container& container,
             const CpuProbe& probe);
  void Refuse(const wire::ResizeStatus& pod, const CpuProbe& probe, const std::string& why);
  void Publish();

  const NodePods& pods_;
  CpuQuotas& quotas_;
  QuotaWriter& writer_;
  const Clock& clock_;
  Logger& log_;
  kube::EventRecorder& events_;
  metrics::NodeAgentMetrics& metrics_;

  // The stepping thread's own.
  bool begun_ = false;  // the pods have been listed once
  std::optional<Running> running_;
  std::map<std::string, CpuProbe> passed_;  // by uid: what is not begun any more

  mutable std::mutex mutex_;
  std::map<std::string, ProbeReading> readings_;  // by uid
};

}  // namespace synergy::nodeagent
