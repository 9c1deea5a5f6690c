#pragma once

// Follows the turns of the node's pods on GPUs that they share (turn_rules.h) by the node's clock:
// suspends the training containers whose turn is over, then resumes those whose turn begins.
//
// The plan counts for kRenewedFor after the controller last renewed it; otherwise all pods run. A
// suspension ends at once when the pod is deleted or about to be evicted.
//
// Threading: Step by one thread, LookAtGpus by one other, the rest by any.
// Failures: the guardian resumes a pod if this process cannot (guardian.h). A pod that cannot be
// suspended is refused for kRefusedFor.

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
  // Returns the uids of the pods with a CPU probe or a burst under way.
  std::function<std::set<std::string>()> probed;
  // Returns which container has which device, by the kubelet.
  std::function<Result<std::vector<DeviceOwner>>()> given;
};

class TurnFollower {
 public:
  static constexpr Duration kRenewedFor = std::chrono::seconds(60);
  static constexpr Duration kRefusedFor = std::chrono::minutes(10);
  // How long the next pods wait until the processes of those before are suspended.
  static constexpr Duration kMostWait = std::chrono::seconds(1);

  // References outlive the follower. `resource`: that of GPUs in turns. `enabled`: false: nothing
  // is suspended.
  TurnFollower(const NodePods& pods, TurnSources sources, TemporaryWriter& writer, PodActs& acts,
               std::string resource, bool enabled, const Clock& clock, Logger& log,
               metrics::NodeAgentMetrics& metrics);

  // The plan is up to date with the cluster, says the controller that leads.
  void Renew();
  // Looks once at the pods. Returns the delay until the next look.
  Duration Step();
  // Asks the kubelet once which pods have which GPUs.
  void LookAtGpus();

  // Returns what is known of the pods that have GPUs in turns, by uid.
  std::map<std::string, TurnReading> Readings() const;
  // Returns TurnReading::time_suspended; 0 for any other pod.
  Duration TimeSuspended(const std::string& uid) const;

 private:
  struct Suspended {
    std::string container_id;
    std::string file;
    WallTime since{};
    Instant end{};  // at which the guardian resumes it at the latest
  };
  // A pod of the node that has GPUs in turns.
  struct Sharer {
    PodPointer pod;
    const wire::ResizeStatus::Container* container = nullptr;  // null: it does not run
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
  // Returns whether it is suspended.
  bool Suspend(const std::string& uid, const Sharer& sharer, WallTime until);
  void Resume(const std::string& uid);
  // Blocks until the processes of these pods are suspended, for kMostWait at most.
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

  // Used only by the stepping thread, by uid.
  std::map<std::string, Suspended> suspended_;
  std::map<std::string, WallTime> resumed_at_;
  std::map<std::string, Unsuspendable> unsuspendable_;
  std::map<std::string, std::string_view> refusals_;
  std::map<std::string, Duration> time_suspended_;  // of suspensions that are over

  mutable std::mutex mutex_;
  std::optional<Instant> renewed_at_;
  std::map<std::string, std::vector<std::string>> gpus_;  // by namespace/name
  std::map<std::string, TurnReading> readings_;           // by uid, without GPUs
};

}  // namespace synergy::nodeagent
