#pragma once

// Manages the turns of pods on GPUs (engine/sharing/turn_planner.h). It passes pods and node
// agents' reports to the planner, writes changed turns as annotations, and reports turns and packs
// as events. While turns are up to date, it renews them (controller/progress/turn_renewal.h).
//
// Threading: one owner. Failures: a failed write is repeated in the next step. Until all writes
// have succeeded, turns are not renewed, so agents let all pods run after a minute. A write that
// fails only because of its own pod does not count, and is repeated after some minutes. Until then,
// no other pod waits for that pod. The next leader continues with the annotations, and with the
// results of packs (pack_result_keeper.h).

#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "controller/progress/progress_store.h"
#include "controller/progress/turn_renewal.h"
#include "controller/tuner/turns/pack_result_keeper.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/rests.h"
#include "engine/sharing/turn_planner.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "metrics/turn_metrics.h"

namespace synergy::controller {

class TurnsDriver {
 public:
  // Limits the writes per step; the others follow in the next step.
  static constexpr size_t kMostWrites = 50;

  struct Settings {
    std::string gpu_resource;
    Duration quantum = std::chrono::seconds(60);  // same as in GpuTurns
    bool packing = false;
  };

  // All references must outlive this object. `may_act` is checked before each write.
  TurnsDriver(Settings settings, ClusterState& state, const ProgressStore& progress,
              kube::PodApi& pods, PackResultKeeper& results, kube::EventRecorder& events,
              TurnRenewal& renewal, std::function<bool()> may_act, const Clock& clock, Logger& log,
              metrics::TurnMetrics& metrics);

  // Forgets all state, because another replica has acted meanwhile.
  void StartOver();
  // Renews nothing until a step has succeeded.
  void Rest();
  // Does what is due now. Call it every few seconds.
  void Step(const std::stop_token& stop);

 private:
  TurnPlanner::PodsByNode PodsByNode(Instant now) const;
  // Reports why pods are not suspended, once for each reason.
  void ReportRefusals(const TurnPlanner::PodsByNode& pods);
  enum class Written {
    kDone,
    kRefused,      // only this pod's write fails
    kUnreachable,  // the API server does not answer, or another replica acts
  };
  Written Write(const TurnChange& change, const std::stop_token& stop);
  void Report(const TurnChange& change);
  // Reports the news of packs as events on both of their pods.
  void ReportPacks(const std::vector<PackNews>& news);

  const Settings settings_;
  ClusterState& state_;
  const ProgressStore& progress_;
  kube::PodApi& pods_;
  PackResultKeeper& results_;
  kube::EventRecorder& events_;
  TurnRenewal& renewal_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  Logger& log_;
  metrics::TurnMetrics& metrics_;
  TurnPlanner planner_;
  bool has_results_ = false;                     // `planner_` has those of the last leader
  std::map<std::string, std::string> refusals_;  // reported refusals, by uid
  Rests failing_;
};

}  // namespace synergy::controller
