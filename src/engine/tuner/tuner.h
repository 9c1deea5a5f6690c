#pragma once

// Synergy-Tune, live (docs/tuner.md): makes room for GPU pods that wait for CPU or memory alone
// (reclaim), and gives what is spare on a node to the pods there that gain most by it (regrow). All
// of it is decided here, by the state of the cluster, a memory and the time; what is to be done
// comes out as actions, which the controller does through the API server and the simulator in
// simulated time.
//
//   a pod is Unschedulable -> its own surplus; else a place on the node where that costs the least
//                             throughput is kept for it and the peers' surplus there is cut;
//                             kube-scheduler sees the room and binds by itself
//   there is room for a pod that waits all the same
//                          -> kube-scheduler asked before the extender had heard of the room, and
//                             is made to ask again
//   every round, a moment after a pod has left a node (so that whoever waits goes first), when a
//   change there has ended, and when a pod may be changed again after that
//                          -> the node's CPU and memory are divided again; cuts first, growth when
//                             they are in force
//
// Nobody is cut below its floor. What a user has changed by hand is left alone.
//
// How it is driven, again and again, by whoever owns the memory:
//
//   Hear(news)  ->  Decide  ->  carry out each action, Learn(action, done)  ->  Hear  ->  Decide
//   ...
//
// until Decide has no more actions; then not before Decision::wake, unless there is news.
//
// Threading: pure; one owner of the memory.

#include <string>
#include <vector>

#include "cluster/claims.h"
#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "engine/profile_book.h"
#include "engine/tuner/tuner_actions.h"
#include "engine/tuner/tuner_memory.h"

namespace synergy {

struct TunerSettings {
  std::string scheduler_name = kDefaultSchedulerName;
  Duration round = std::chrono::minutes(5);
  // By how much a node's throughput, or a single pod's, has to rise for a re-division to be made.
  double least_gain = 0.05;
  // How many times its fair share's throughput a profile is believed.
  double max_speed_up = kDefaultMaxSpeedUp;
  // How long a place is kept for a waiting pod.
  Duration keep = kDefaultHold;
  // Between two attempts for the same pod; doubled with each, up to a round.
  Duration retry = std::chrono::seconds(5);
  // How soon a pod for which there was no room is looked at again, when something has changed.
  Duration look_again = std::chrono::seconds(1);
  // How long kube-scheduler is given to use room by itself; doubled with each time it is reminded,
  // up to a round.
  Duration remind = std::chrono::seconds(1);
  // Between a growth's announcement and the growth.
  Duration settle = std::chrono::seconds(1);
  // How long the kubelet, with the node agent's help, may take for a change.
  Duration patience = std::chrono::seconds(30);
  // The kubelet looks again at a cut of memory that it could not make after 10 to 15 s, or when
  // the pod changes (measured, docs/node-agent.md): so it is reminded.
  Duration remind_kubelet = std::chrono::seconds(2);
  // How long a pod is left alone that could not be cut.
  Duration unshrinkable = std::chrono::minutes(10);
  // How long nothing is tried again that a kubelet has said it never does, on that node.
  Duration infeasible = std::chrono::hours(1);
  // How long nobody is cut for a pod of which kube-scheduler does not say that CPU or memory lacks.
  Duration unnamed = std::chrono::minutes(5);
  // How long nobody is cut again for a pod on a node where kube-scheduler left its room unused;
  // doubled with each time, up to the other.
  Duration refused = std::chrono::minutes(10);
  Duration most_refused = std::chrono::hours(4);
  // Kept free on every node for pods without GPUs that come later; gpus = 0.
  ResourceVector headroom;
};

struct TunerDecision {
  std::vector<TunerAction> actions;
  Instant wake{};      // when there may be something to do without any news
  bool round = false;  // a round began
};

class Tuner {
 public:
  // `profiles` outlives this.
  Tuner(TunerSettings settings, const ProfileBook& profiles);

  // The memory of somebody who begins, at once with a round: its first news have to be all pods.
  static TunerMemory StartOver(Moment at);
  void Hear(TunerMemory& memory, const PodNews& news, Moment at) const;
  TunerDecision Decide(const ClusterSnapshot& cluster, TunerMemory& memory, Moment at) const;
  // `done`: the API server has taken the action.
  void Learn(TunerMemory& memory, const TunerAction& action, bool done, Moment at) const;

  const TunerSettings& settings() const { return settings_; }

 private:
  TunerSettings settings_;
  const ProfileBook& profiles_;
};

}  // namespace synergy
