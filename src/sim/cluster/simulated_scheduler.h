#pragma once

// kube-scheduler with our extender: who is tried next, and which node a pod gets with how much.
//
// kube-scheduler looks at requests first; where some node is good enough for it, the extender's
// filter, ranking and bind decide (extender/scheduler_extender.cc, allocations.cc, binder.cc), by
// the same functions on the same ClusterState.
//
// Threading: one owner.

#include <optional>
#include <string>

#include "allocation/best_fit.h"
#include "cluster/cluster_snapshot.h"
#include "cluster/cluster_state.h"
#include "cluster/pod.h"
#include "core/clock.h"
#include "sim/cluster/scheduling_queue.h"
#include "sim/cluster/simulated_pods.h"

namespace synergy {

class SimulatedScheduler final : public PodWatcher {
 public:
  // `state` outlives this.
  explicit SimulatedScheduler(ClusterState& state) : state_(state) {}

  // A pod that waits has come, or has gone.
  void Add(const Pod& pod, Instant now) { queue_.Add(pod, now); }
  void Remove(const std::string& uid) { queue_.Remove(uid); }
  void NodesChanged() { queue_.WakeAll(); }
  void PodWritten(const SimulatedPod& pod, const SimulatedPods& all) override;
  void RoomMade(const SimulatedPod& pod) override;

  // Whether somebody is to be tried now, and when there will be if nothing happens.
  bool HasWork(Instant now) { return queue_.Next(now).has_value(); }
  std::optional<Instant> NextWork() const { return queue_.RestEnds(); }

  struct Attempt {
    std::string uid;
    // The pod as it is to be bound; the ClusterState assumes it there. None: it is Unschedulable.
    std::optional<Pod> planned;
    // Nothing that matters to it has changed since others like it failed: this took no time.
    bool known = false;
  };
  // Of the one whose turn it is; none where there is nobody. `pods` has the waiting ones.
  std::optional<Attempt> Try(const SimulatedPods& pods, Instant now);

  size_t waiting() const { return queue_.size(); }

 private:
  struct Choice {
    std::optional<NodeIndex> node;
    bool looked = false;  // some node had to be looked at
  };
  Choice Choose(const Pod& pod, const ClusterSnapshot& snapshot, uint64_t looked_at) const;
  std::optional<Pod> Assume(const Pod& pod, const ClusterSnapshot& snapshot, NodeIndex node,
                            Instant now);

  ClusterState& state_;
  SchedulingQueue queue_;
};

}  // namespace synergy
