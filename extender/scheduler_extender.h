#pragma once

// The extender's four verbs, text in and text out (k8s.io/kube-scheduler/extender/v1).
// docs/extender.md says how each one decides.
//
// Threading: every verb from any thread, concurrently. None but Bind talks to the API server.
// Failures: never thrown; an answer of {"Error": ...} says what is wrong with the request.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "allocation/best_fit.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "engine/decisions.h"
#include "extender/binding/binder.h"
#include "extender/calls.h"
#include "extender/gangs/shared_gangs.h"
#include "extender/gangs/succeeded_members.h"
#include "extender/patience.h"
#include "metrics/extender_metrics.h"
#include "wire/extender/extender_messages.h"
#include "wire/objects/objects.h"

namespace synergy::extender {

// What the extender has to know of the watches that keep its copy of the cluster.
struct Watches {
  // Whether everything has been listed, and no watch has broken off since: whatever is not known
  // looks free.
  std::function<bool()> current = [] { return true; };
  // Gives them a moment, where room is on its way: kube-scheduler may have heard of it before us.
  std::function<void()> catch_up = [] {};
};

struct PlacementRules {
  ReserveRule reserve;
  // How much worse a place may be than the best one, as Ranking::GivePoints() takes it, for the
  // preferences of a pod that has some to decide.
  double slack = 0;
  std::chrono::milliseconds expect_timeout = std::chrono::seconds(3);
  // Every node is as good as any other, and nothing is bound or evicted (shadow.h).
  bool shadow = false;
  GangTimes gangs;
  LocalityRules locality = {};
};

class SchedulerExtender {
 public:
  // All references outlive the extender.
  SchedulerExtender(ClusterState& state, Binder& binder, const wire::ObjectReader& reader,
                    PlacementRules rules, const Clock& clock, Logger& log,
                    metrics::ExtenderMetrics& metrics, Watches watches = {});

  // Tells `journal` of every decision about a GPU pod, once the answer is made. To be called once,
  // before the verbs; `journal`, which may be told from any thread, outlives them.
  void SetJournal(DecisionJournal* journal) { journal_ = journal; }

  // Tells how many of a gang have Succeeded, where a gang is not whole for long. To be called once,
  // before the verbs.
  void SetCountSucceeded(CountSucceeded count) { count_succeeded_ = std::move(count); }

  std::string Filter(std::string_view body);
  std::string Prioritize(std::string_view body);
  std::string Bind(std::string_view body);
  std::string Preempt(std::string_view body);

  // What is held for gangs, to be looked at every second or so.
  SharedGangs& gangs() { return gangs_; }

 private:
  std::string Reject(metrics::Verb verb, const Error& error);
  // Whether a GPU pod may be placed by what is known.
  Result<> Ready() const;
  // Whether nothing is to be said about where the pod goes.
  bool LeavesAlone(const Pod& pod) const { return shadow_ || !pod.UsesGpus(); }
  // The filter's answer for a pod of a gang.
  std::string FilterMember(const wire::ExtenderArgs& args);
  std::optional<NodeIndex> CountedOn(const ClusterSnapshot& snapshot, const std::string& uid) const;
  void Expect(const Pod& pod, NodeIndex node);

  ClusterState& state_;
  Binder& binder_;
  const wire::ObjectReader& reader_;
  const ReserveRule reserve_;
  const double slack_;
  const std::chrono::milliseconds expect_timeout_;
  const bool shadow_;
  const Clock& clock_;
  Logger& log_;
  metrics::ExtenderMetrics& metrics_;
  const Watches watches_;
  SharedGangs gangs_;
  DecisionIds ids_;
  ReclaimPatience patience_;
  SecondLooks second_looks_;
  CountSucceeded count_succeeded_;
  DecisionJournal* journal_ = nullptr;
};

}  // namespace synergy::extender
