#pragma once

// Carries out the probes that the controller requests (the annotation synergy.io/probe;
// docs/internals/profiling.md). A probe gives a pod a temporary CPU quota, which shows how fast the
// pod trains with less CPU. A burst is a probe above the pod's limit. A node has at most one other
// probe at a time, and each pod at most one burst.
//
//   annotation seen --> begun --> its time is over                                      done
//        |                +-----> annotation or container changed or gone               ended_early
//        |                +-----> either, but the quota was rewritten, as by a resize   wiped
//        +--> another probe is under way, or this one is impossible                     refused
//
// Probes that pods already have when the agent starts are not begun: an earlier agent may have
// crashed because of them, and the result of an interrupted probe is useless.
//
// Threading: one thread calls Step; any thread may call Readings. Failures: the guardian restores a
// quota if this process cannot (guardian.h).

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/state/pod_acts.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "metrics/node_agent_metrics.h"
#include "nodeagent/cgroups/node_pods.h"
#include "nodeagent/guarded/cpu_quota.h"
#include "nodeagent/guarded/guardian.h"
#include "profile/pod_progress.h"

namespace synergy::nodeagent {

class Prober {
 public:
  // All references must outlive the prober.
  Prober(const NodePods& pods, CpuQuotas& quotas, TemporaryWriter& writer, PodActs& acts,
         const Clock& clock, Logger& log, kube::EventRecorder& events,
         metrics::NodeAgentMetrics& metrics);

  // Looks at the pods and at the quota once. Returns the delay until the next look.
  Duration Step();

  // Returns the running probes and bursts, by uid.
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

  using RunningProbes = std::map<std::string, Running>;  // by uid

  // Returns the outcome of a probe that ends (see the diagram above); empty if it continues.
  std::string_view LookAtRunning(const std::map<std::string, PodPointer>& pods, Running& running);
  void LookAtQuotas(Running& running);
  // Returns whether all quotas of the probe are still as they were written.
  bool IsInForce(const Running& running);
  void End(const Running& ended, std::string_view outcome);
  void Begin(const PodPointer& pod, const wire::ResizeStatus::Container& container,
             const CpuProbe& probe);
  void Refuse(const wire::ResizeStatus& pod, const CpuProbe& probe, const std::string& why);
  void Publish();

  const NodePods& pods_;
  CpuQuotas& quotas_;
  TemporaryWriter& writer_;
  PodActs& acts_;
  const Clock& clock_;
  Logger& log_;
  kube::EventRecorder& events_;
  metrics::NodeAgentMetrics& metrics_;

  // Only the stepping thread uses these.
  bool begun_ = false;  // the pods have been listed once
  RunningProbes running_;
  std::map<std::string, CpuProbe> passed_;  // probes that must not begin any more, by UID

  mutable std::mutex mutex_;
  std::map<std::string, ProbeReading> readings_;  // by uid
};

}  // namespace synergy::nodeagent
