#pragma once

// Runs the turns of pods on GPUs (turns_driver.h): it steps every two seconds while this replica
// leads and sees the cluster. This file is separate because the tests of the driver need no leader.
//
// Threading: one owner constructs, starts and stops it; it has its own thread.

#include "config/controller_config.h"
#include "controller/cluster/leader_loop.h"
#include "controller/cluster/leadership.h"
#include "controller/cluster/watched_cluster.h"
#include "controller/progress/progress_unit.h"
#include "controller/tuner/turns/pack_result_keeper.h"
#include "controller/tuner/turns/turns_driver.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "kube/apis/profile_api.h"
#include "metrics/turn_metrics.h"

namespace synergy::controller {

class TurnsUnit {
 public:
  // All references must outlive this object.
  TurnsUnit(const config::ControllerConfig& config, WatchedCluster& cluster, ProgressUnit& progress,
            kube::PodApi& pod_api, kube::ProfileApi& profile_api, kube::EventRecorder& events,
            const Leadership& leadership, const Clock& clock, Logger& log,
            metrics::TurnMetrics& metrics);

  // Does nothing unless turns.enabled is set.
  void Start();
  // Ends the thread, and then the renewal of turns.
  void Stop();

 private:
  const bool enabled_;
  TurnRenewal& renewal_;
  PackResultKeeper results_;
  TurnsDriver driver_;
  LeaderLoop loop_;
};

}  // namespace synergy::controller
