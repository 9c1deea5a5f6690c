#pragma once

// Implements Synergy-Tune on the live cluster (docs/internals/tuner.md). The tuner makes room for
// GPU pods that wait only for CPU or memory (reclaim). It gives a node's spare amounts to the pods
// there that gain most from them (regrow). Its decisions depend only on the cluster's state, the
// tuner's memory and the time. They are actions, which the controller carries out through the API
// server, and the simulator in simulated time.
//
//   a pod is Unschedulable -> cuts the pod's own surplus; otherwise keeps a place for the pod on
//                             the node where room costs the least throughput, and cuts the surplus
//                             of other pods there; kube-scheduler finds the room and binds the pod
//   a pod waits although there is room
//                          -> kube-scheduler tried it before the extender had seen the room, and is
//                             made to retry
//   a GPU reservation starts soon
//                          -> cuts surplus on its nodes until the job's floor fits there, and
//                             leaves the room free until then (reclaim.h)
//   every round, shortly after a pod has left a node (waiting pods go first), after a change on the
//   node, and when a pod there may be changed again
//                          -> divides the node's CPU and memory again: cuts first, and growth once
//                             the cuts are in force
//
//   a pod is idle for long   -> lends CPU to a neighbour, until it is busy again (loans.h)
//
// No pod is cut below its floor except for a loan. Amounts that a user changed by hand are left
// alone.
//
// The owner of the memory calls it in a loop:
//
//   Observe() news --> Plan() --> carry out each action, OnResult() --> Observe() news --> ...
//
// until Plan() returns no more actions. Without news, Plan() has nothing to do before
// TunerPlan::wake.
//
// Threading: pure; one owner of the memory.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "allocation/storage/storage_catalog.h"
#include "cluster/claims.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "engine/profile_catalog.h"
#include "engine/tuner/tuner_actions.h"
#include "engine/tuner/tuner_memory.h"

namespace synergy {

struct TunerSettings {
  std::string scheduler_name = kDefaultSchedulerName;
  Duration round = std::chrono::minutes(5);
  // Divides a node again only if its throughput, or that of one pod, rises by at least this
  // fraction.
  double least_gain = 0.05;
  // Caps the throughput that a profile may claim, in multiples of the throughput at its fair share.
  double max_speed_up = kDefaultMaxSpeedUp;
  // Whether pods in Kueue's queues get no more than their floors.
  bool within_counted = false;
  // How long a place is kept for a waiting pod.
  Duration keep = kDefaultHold;
  // Time between two attempts for one pod. Doubles with each attempt, up to a round.
  Duration retry = std::chrono::seconds(5);
  // How soon to look again for a pod without room after something has changed.
  Duration look_again = std::chrono::seconds(1);
  // How long kube-scheduler may take to find room on its own. Doubles with each reminder, up to a
  // round.
  Duration remind = std::chrono::seconds(1);
  // Time between announcing a growth and making it.
  Duration settle = std::chrono::seconds(1);
  // How long the kubelet, with the node agent's help, may take for a change.
  Duration patience = std::chrono::seconds(30);
  // Interval of reminders to the kubelet. Without reminders, it retries a failed cut of memory only
  // after 10 to 15 s, or when the pod changes (measured, docs/internals/node-agent.md).
  Duration remind_kubelet = std::chrono::seconds(2);
  // How long to leave alone a pod that could not be cut.
  Duration unshrinkable = std::chrono::minutes(10);
  // How long to wait before retrying a change on a node whose kubelet reported the change as
  // infeasible.
  Duration infeasible = std::chrono::hours(1);
  // How long no pod is cut for a waiting pod if kube-scheduler does not report a lack of CPU or
  // memory.
  Duration unnamed = std::chrono::minutes(5);
  // How long no pod is cut for a waiting pod on a node where kube-scheduler left the room unused.
  // Doubles each time, up to `most_refused`.
  Duration refused = std::chrono::minutes(10);
  Duration most_refused = std::chrono::hours(4);
  // How long a pod must be idle before it lends CPU; zero: no pod lends.
  Duration idle_after{};
  // The amounts kept free on every node for later pods without GPUs. Its GPUs are 0.
  ResourceVector headroom;
};

struct TunerPlan {
  std::vector<TunerAction> actions;
  Instant wake{};      // when to plan again without news
  bool round = false;  // a round began
};

class Tuner {
 public:
  // Both catalogs must outlive this object. `storage`: null if the storage is unknown.
  Tuner(TunerSettings settings, const ProfileCatalog& profiles,
        const StorageCatalog* storage = nullptr);

  // Returns the memory of a new process, which begins with a round. REQUIRES: Observe() gets news
  // of all pods before the first Plan().
  static TunerMemory StartOver(Moment at);
  void Observe(TunerMemory& memory, const PodNews& news, Moment at) const;
  // Records how long pods have been idle, by uid; replaces what was known.
  void ObserveIdle(TunerMemory& memory, std::map<std::string, IdlePod> idle) const;
  // Records that the known storage of these nodes has changed. The next round divides them again.
  void ObserveStorage(TunerMemory& memory, const std::set<std::string>& changed) const;
  // Records the GPU reservations in force; replaces what was known.
  void ObserveReservations(TunerMemory& memory, std::vector<GpuReservation> reservations) const;
  // Returns when Plan() has something to do for the reservations, even without other news.
  Instant ReservationsDue(const TunerMemory& memory) const;
  // Returns the nodes with pods that lend CPU. The reports of their agents are urgent.
  std::set<std::string> NodesOfLenders(const TunerMemory& memory) const;
  TunerPlan Plan(const ClusterSnapshot& cluster, TunerMemory& memory, Moment at) const;
  // `done`: the API server has accepted the action.
  void OnResult(TunerMemory& memory, const TunerAction& action, bool done, Moment at) const;

  const TunerSettings& settings() const { return settings_; }

 private:
  TunerSettings settings_;
  const ProfileCatalog& profiles_;
  const StorageCatalog* storage_;
};

}  // namespace synergy
