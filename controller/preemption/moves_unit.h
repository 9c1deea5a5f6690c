#pragma once

// Moves running jobs so that waiting ones get room. It watches the data about pods that moves need,
// and runs MoveDriver while this replica leads and sees the disruption budgets.
//
// Threading: one owner constructs, starts and stops it; it has its own thread and the watches'.

#include <memory>

#include "config/controller_config.h"
#include "controller/cluster/api_clients.h"
#include "controller/cluster/keyed_store.h"
#include "controller/cluster/leader_loop.h"
#include "controller/cluster/leadership.h"
#include "controller/cluster/watched_cluster.h"
#include "controller/preemption/move_driver.h"
#include "controller/preemption/preemption_unit.h"
#include "controller/preemption/training_ends.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/move_api.h"
#include "kube/apis/pod_api.h"
#include "kube/watches.h"
#include "metrics/controller_metrics.h"
#include "wire/objects/objects.h"

namespace synergy::controller {

class MovesUnit {
 public:
  // All references must outlive this object.
  MovesUnit(const config::ControllerConfig& config, const ApiClients& clients,
            const wire::ObjectReader& reader, WatchedCluster& cluster,
            TrainingEnds::ProgressOf progress, const PreemptionUnit& preemption,
            kube::PodApi& pod_api, kube::EventRecorder& events, PodActs& acts,
            const Leadership& leadership, const Clock& clock, Logger& log,
            metrics::ControllerMetrics& metrics);

  // Does nothing without moves.enabled.
  void Start();
  // Ends the acting thread first, and then the watches.
  void Stop();

 private:
  const bool enabled_;
  const std::string scheduler_name_;
  const std::unique_ptr<kube::MoveApi> move_api_;
  KeyedStore<wire::PodTimes> times_;
  KeyedStore<wire::MovablePod> pods_;
  MoveDriver driver_;
  // Declared after the stores to which they write.
  kube::Watches watches_;
  LeaderLoop loop_;
};

}  // namespace synergy::controller
