#pragma once

// Models kube-scheduler's preemption for a pod that trains alone and fits on no node
// (pkg/scheduler/framework/plugins/defaultpreemption). Candidates are pods of lower priority that
// the pod may replace, by kube-scheduler's own count of requests. Of these, the extender keeps the
// ones that must go for the resources (extender/scheduler_extender.cc, Preempt), with the same
// functions. The model then chooses the node where the highest priority of the victims is lowest.
// Ties are broken by the smallest sum of priorities, then the fewest victims, then the first name.
// kube-scheduler also prefers pods that started late.
//
// Threading: one owner.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocation/preemption.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_snapshot.h"
#include "core/clock.h"
#include "core/resources.h"

namespace synergy {

struct PodEvictions {
  std::string node;
  std::vector<std::shared_ptr<const Pod>> victims;  // never empty
};

class PodPreemption {
 public:
  // Returns a node as kube-scheduler counts it, without pods that are nominated to it.
  using CountNode = std::function<NodeState(const NodeState& node)>;
  // Returns whether the pod may replace others there: its spec selects the node, and GPU
  // reservations do not keep it away.
  using MayReplace = std::function<bool(const NodeState& node)>;
  // Returns the amounts that kube-scheduler counts for a pod; nullopt if the pod cannot be evicted.
  using CountPod = std::function<std::optional<ResourceVector>(const Pod& pod)>;

  // `with_extender`: whether the extender selects the required victims.
  explicit PodPreemption(bool with_extender) : with_extender_(with_extender) {}

  // Returns the pods that `pod` evicts; nullopt if none. REQUIRES: the pod fits on no node, and is
  // in no gang.
  std::optional<PodEvictions> Choose(const Pod& pod, const ClusterSnapshot& snapshot,
                                     const CountNode& count_node, const MayReplace& may_replace,
                                     const CountPod& count_pod, Moment at);

 private:
  const bool with_extender_;
  BoundedWait delay_ = PreemptionDelay();
};

}  // namespace synergy
