#pragma once

// Synergy-Tune, live (docs/tuner.md): makes room for GPU pods that wait for CPU or memory alone
// (reclaim), and gives what is spare on a node to the pods there that gain most by it (regrow).
//
//   a pod is Unschedulable -> its own surplus; else a place on the node where that costs the least
//                             throughput is kept for it (annotation synergy.io/hold, which the
//                             extender honours) and the peers' surplus there is cut;
//                             kube-scheduler sees the room and binds by itself
//   there is room for a pod that waits all the same
//                          -> kube-scheduler asked before the extender had heard of the room, and
//                             is made to ask again
//   every round, when a pod has left a node or a change there has ended, and when a pod may be
//   changed again after that
//                          -> the node's CPU and memory are divided again; cuts first, growth when
//                             they are in force
//
// Nobody is cut below its floor. What a user has changed by hand is left alone.
//
// Threading: StartOver() and Step() by one thread; the others from any.
// Failures: a call that fails leaves the pod as it was, to be tried again; see pod_changes.h. All
// state that matters is on the pods, so that a successor goes on from there.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cluster/cluster_state.h"
#include "cluster/pod.h"
#include "controller/pod_changes.h"
#include "controller/room.h"
#include "controller/tenancies.h"
#include "core/clock.h"
#include "core/log.h"
#include "json/objects.h"
#include "kube/api_client.h"
#include "kube/events.h"
#include "metrics/tuner_metrics.h"

namespace synergy::controller {

struct TunerOptions {
  std::string scheduler_name = "synergy-scheduler";
  Duration round = std::chrono::minutes(5);
  // By how much a node's throughput, or a single pod's, has to rise for a re-division to be made.
  double least_gain = 0.05;
  // How long a place is kept for a waiting pod.
  Duration hold = std::chrono::seconds(60);
  // Between two attempts for the same pod; doubled with each, up to a round.
  Duration retry = std::chrono::seconds(5);
  // How long kube-scheduler is given to use room by itself; doubled with each time it is reminded,
  // up to a round.
  Duration remind = std::chrono::seconds(1);
  PodChangeOptions changes;
};

class Tuner {
 public:
  // All references outlive the tuner.
  Tuner(ClusterState& state, FindProfile find_profile, kube::ApiClient& client,
        const json::ObjectReader& reader, kube::EventRecorder& events, const Clock& clock,
        Logger& log, metrics::TunerMetrics& metrics, TunerOptions options);

  // What the watch reports, after `state` has it.
  void PodSeen(const Pod& pod);
  void PodGone(const Pod& pod);
  void PodsListed(const std::vector<Pod>& all);

  // Forgets what is under way and looks at everything anew, because somebody else has been at work
  // meanwhile: to be called on becoming the leader.
  void StartOver();

  // Does what is to be done now. To be called when something was seen, and several times a second.
  void Step();

  // GPU pods without a node, but for those with scheduling gates.
  std::vector<std::shared_ptr<const Pod>> WaitingPods() const;

 private:
  // A place kept for a waiting pod.
  struct Hold {
    std::string node;
    Instant until{};
    std::set<std::string> cuts;  // the peers that make room
  };
  struct Attempts {
    int count = 0;
    Instant next{};
  };
  struct Reminders {
    int count = 0;
    std::optional<Instant> next;
  };
  struct WaitingPod {
    std::shared_ptr<const Pod> pod;
    Instant since{};  // when we saw that it is Unschedulable
  };

  void TakeOverUnfinished(const ClusterSnapshot& snapshot);
  void EndHolds();
  void MakeRoom();
  std::optional<WaitingPod> FindWaiting(const std::string& uid) const;
  // To be called again and again while there is room for a pod that waits.
  void RemindOfRoom(const Pod& pod);
  void MakeRoomFor(const WaitingPod& waiting);
  // Gives up the place of a pod of lower priority, if that is all that is in the way.
  void FreePlaceFor(const Pod& pod, const ClusterSnapshot& snapshot);
  void Reserve(const Pod& pod, const ClusterSnapshot& snapshot, const RoomPlan& plan);
  void GiveUp(const std::string& uid, std::string_view outcome);
  void Divide();
  void DivideNode(const NodeState& node);

  ClusterState& state_;
  kube::ApiClient& client_;
  const json::ObjectReader& reader_;
  const Clock& clock_;
  Logger& log_;
  metrics::TunerMetrics& metrics_;
  const TunerOptions options_;
  PodChanges changes_;
  Tenancies tenancies_;

  std::map<std::string, Hold> holds_;           // by the waiting pod's uid
  std::map<std::string, Attempts> attempts_;    // likewise
  std::map<std::string, Reminders> reminders_;  // likewise
  std::map<std::string, Instant> due_;          // nodes to divide again, and when
  Instant next_round_{};

  mutable std::mutex mutex_;
  std::map<std::string, WaitingPod> waiting_;  // GPU pods without a node, by uid
  std::set<std::string> touched_;              // nodes to divide again
};

}  // namespace synergy::controller
