#pragma once

// Runs the turns of pods on GPUs (turns_driver.h): a step every two seconds while this replica
// leads and sees the cluster. Apart because the tests of the driver need no leader.
//
// Threading: the constructor, Start() and Stop() by one owner; one thread of its own.

#include "config/controller_config.h"
#include "controller/cluster/leader_loop.h"
#include "controller/cluster/leadership.h"
#include "controller/cluster/watched_cluster.h"
#include "controller/progress/progress_unit.h"
#include "controller/tuner/turns/turns_driver.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "metrics/turn_metrics.h"

namespace synergy::controller {

class TurnsUnit {
 public:
  // All references outlive this.
  TurnsUnit(const config::ControllerConfig& config, WatchedCluster& cluster, ProgressUnit& progress,
            kube::PodApi& pod_api, kube::EventRecorder& events, const Leadership& leadership,
            const Clock& clock, Logger& log, metrics::TurnMetrics& metrics);

  // Does nothing unless turns.enabled is set.
  void Start();
  // Ends the renewal, too.
  void Stop();

 private:
  const bool enabled_;
  TurnRenewal& renewal_;
  TurnsDriver driver_;
  LeaderLoop loop_;
};

}  // namespace synergy::controller
