#pragma once

// Follows the turns of the node's pods on GPUs that they share (turn_rules.h), by the node's clock.
// It suspends the training containers whose turn is over, and then resumes those whose turn begins.
//
// The plan is valid for kRenewedFor after the controller last renewed it; otherwise all pods run. A
// suspension ends at once when the pod is deleted or about to be evicted.
//
// Threading: one thread calls Step, another one LookAtGpus; any thread may call the rest. Failures:
// the guardian resumes a pod if this process cannot (guardian.h). A pod that cannot be suspended
// runs all the time for kRefusedFor.

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/state/pod_acts.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "inventory/kubelet_device.h"
#include "metrics/node_agent_metrics.h"
#include "nodeagent/cgroups/node_pods.h"
#include "nodeagent/guarded/freezer.h"
#include "nodeagent/guarded/guardian.h"
#include "nodeagent/guarded/turn_rules.h"
#include "profile/pod_progress.h"

namespace synergy::nodeagent {

struct TurnSources {
  Freezers* freezers = nullptr;  // null: the machine has none
  // Returns the uids of the pods with a CPU probe or burst in progress.
  std::function<std::set<std::string>()> probed;
  // Returns which container has which device, according to the kubelet.
  std::function<Result<std::vector<DeviceOwner>>()> given;
};

class TurnFollower {
 public:
  static constexpr Duration kRenewedFor = std::chrono::seconds(60);
  static constexpr Duration kRefusedFor = std::chrono::minutes(10);
  // How long the next pods wait for the processes of the previous pods to be suspended.
  static constexpr Duration kMostWait = std::chrono::seconds(1);

  // References must outlive the follower. `resource`: the resource for GPUs in turns. `enabled`: if
  // false, nothing is suspended.
  TurnFollower(const NodePods& pods, TurnSources sources, TemporaryWriter& writer, PodActs& acts,
               std::string resource, bool enabled, const Clock& clock, Logger& log,
               metrics::NodeAgentMetrics& metrics);

  // Records that the leading controller has renewed its plan.
  void Renew();
  // Looks at the pods once. Returns the delay until the next look.
  Duration Step();
  // Queries the kubelet once for the GPUs of pods.
  void LookAtGpus();

  // Returns the readings of the pods that have GPUs in turns, by UID.
  std::map<std::string, TurnReading> Readings() const;
  // Returns TurnReading::time_suspended; 0 for any other pod.
  Duration TimeSuspended(const std::string& uid) const;

 private:
  struct Suspended {
    std::string container_id;
    std::string file;
    Instant since{};
    Instant end{};  // when the guardian resumes it at the latest
  };
  // A pod of the node that has GPUs in turns.
  struct Sharer {
    PodPointer pod;
    const wire::ResizeStatus::Container* container = nullptr;  // null: it is not running
    std::optional<TurnRefusal> refusal;
  };
  struct Unsuspendable {
    std::string why;
    Instant until{};
  };
  using Sharers = std::map<std::string, Sharer>;  // by uid

  Sharers Look();
  std::optional<TurnRefusal> WhyRefused(const std::string& uid, const wire::ResizeStatus& pod,
                                        const std::set<std::string>& probed);
  std::map<std::string, WallTime> Wanted(const Sharers& sharers) const;
  // Returns whether the pod has been suspended.
  bool Suspend(const std::string& uid, const Sharer& sharer, WallTime until);
  void Resume(const std::string& uid);
  // Blocks until the processes of these pods are suspended, for at most kMostWait.
  void AwaitFrozen(const std::vector<std::string>& uids);
  void CountRefusals(const Sharers& sharers);
  void Publish(const Sharers& sharers);

  const NodePods& pods_;
  const TurnSources sources_;
  TemporaryWriter& writer_;
  PodActs& acts_;
  const std::string resource_;
  const bool enabled_;
  const Clock& clock_;
  Logger& log_;
  metrics::NodeAgentMetrics& metrics_;

  // Only the stepping thread uses these, by uid.
  std::map<std::string, Suspended> suspended_;
  std::map<std::string, Instant> resumed_at_;
  std::map<std::string, Unsuspendable> unsuspendable_;
  std::map<std::string, std::string_view> refusals_;
  std::map<std::string, Duration> time_suspended_;  // of past suspensions

  mutable std::mutex mutex_;
  std::optional<Instant> renewed_at_;
  std::map<std::string, std::vector<std::string>> gpus_;  // by uid
  std::map<std::string, TurnReading> readings_;           // by uid, without GPUs
};

}  // namespace synergy::nodeagent
