#pragma once

// A model of kube-scheduler 1.35 and the API server around the extender's Gangs, in simulated time.
// It has the queue with backoff and requeueing, the filters NodeResourcesFit, NodePorts,
// InterPodAffinity, PodTopologySpread and NodeAffinity, concurrent binds, and volumes, which the
// extender ignores. Calls may be slow or lost, pods may be deleted and created again, and the
// extender may restart and read the cluster's current state.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/random.h"
#include "engine/gangs/gangs.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"

namespace synergy::extender {

struct ModelPod {
  Pod pod;  // as its author wrote it; `pod.node`: as the API server stores it
  std::set<std::string> forbidden;  // nodes that its volumes exclude
};

struct ModelRules {
  GangTimes times;
  int lost_in_1000 = 0;  // of calls and of answers
};

class SchedulerModel {
 public:
  SchedulerModel(ModelRules rules, uint64_t seed);

  void AddNode(Node node);
  void Create(ModelPod pod);
  void Delete(const std::string& name);
  // Ends the extender, and starts another one.
  void Kill();
  // From now on no call is lost.
  void Calm() { rules_.lost_in_1000 = 0; }
  void Run(Duration time);

  Random& random() { return random_; }
  const std::map<std::string, Node>& nodes() const { return nodes_; }
  const std::map<std::string, ModelPod>& pods() const { return pods_; }
  // Returns whether kube-scheduler's filters accept the node for the pod, beside the pods in
  // `places`.
  bool Filters(const ModelPod& pod, const std::string& node,
               const std::map<std::string, std::string>& places) const;
  // Returns the first violated invariant; empty if there is none.
  const std::string& fault() const { return fault_; }
  size_t cycles() const { return cycles_; }
  // Returns the last steps.
  std::string Describe() const;

 private:
  struct Queued {
    int attempts = 0;
    Instant tried{};
    bool unschedulable = false;  // until an event
  };
  // A bind, from kube-scheduler's reservation on.
  struct Binding {
    std::string name;
    std::string node;
    Instant arrives{};  // when the extender receives the call
    Instant gives_up{};
    Instant answered{};  // when kube-scheduler receives the answer; zero: not yet
    bool is_bound = false;
    bool lost = false;
    bool answer_lost = false;
    std::shared_ptr<GangBind> bind;
  };
  struct News {
    Instant at{};
    std::string uid;
  };

  bool Lost() { return static_cast<int>(random_.Below(1000)) < rules_.lost_in_1000; }
  Duration Latency();
  void Start();
  bool ScheduleOne();
  void Schedule(const std::string& name);
  void Deliver();
  void Settle(Binding& binding);
  void Fail(const std::string& name);
  void MoveAll();
  Instant ReadyAt(const Queued& queued) const;
  Instant NextMoment() const;
  std::map<std::string, std::string> Counted() const;
  void CheckHolds();
  void Note(std::string text);

  ModelRules rules_;
  Random random_;
  synergy::testing::FakeClock clock_;
  synergy::testing::SilentSink sink_;
  Logger log_{sink_, clock_, LogLevel::kError, LogFormat::kText};
  std::map<std::string, Node> nodes_;
  std::map<std::string, ModelPod> pods_;
  std::unique_ptr<ClusterState> state_;
  std::unique_ptr<Gangs> gangs_;
  Instant next_look_{};
  std::map<std::string, Queued> queue_;  // name -> pod in the queue
  std::vector<Binding> bindings_;
  std::map<std::string, int> attempts_;  // uid of a pod that is being bound -> attempts
  std::vector<News> news_;               // bound pods that the watches have not reported yet
  std::map<std::string, Instant> held_since_;
  std::vector<std::string> notes_;
  std::string fault_;
  size_t cycles_ = 0;
};

}  // namespace synergy::extender
