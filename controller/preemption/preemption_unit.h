#pragma once

// Preempts for gangs of higher priority: it watches disruption budgets, and runs
// GangPreemptionDriver while this replica leads and sees the budgets. Moves (moves_unit.h) use the
// same budgets.
//
// Threading: one owner constructs, starts and stops it; it has its own thread and the watch's.

#include <memory>

#include "config/controller_config.h"
#include "controller/cluster/api_clients.h"
#include "controller/cluster/leader_loop.h"
#include "controller/cluster/leadership.h"
#include "controller/cluster/watched_cluster.h"
#include "controller/preemption/gang_preemption_driver.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "kube/cluster_store.h"
#include "kube/watches.h"
#include "metrics/controller_metrics.h"
#include "wire/objects/objects.h"

namespace synergy::controller {

class PreemptionUnit {
 public:
  // All references must outlive this object.
  PreemptionUnit(const config::ControllerConfig& config, const ApiClients& clients,
                 const wire::ObjectReader& reader, WatchedCluster& cluster, kube::PodApi& pod_api,
                 kube::EventRecorder& events, PodActs& acts, const Leadership& leadership,
                 const Clock& clock, Logger& log, metrics::ControllerMetrics& metrics);

  // Watches the budgets with gangPreemption.enabled or moves.enabled; preempts only with
  // gangPreemption.enabled.
  void Start();
  // Ends the acting thread first, and then the watch.
  void Stop();

  kube::EvictionApi& eviction_api() const { return *eviction_api_; }
  // Returns whether the watch of budgets is up to date.
  bool SeesBudgets() const { return budget_watches_.Current(); }

 private:
  const bool enabled_;
  const bool watches_budgets_;
  const std::unique_ptr<kube::EvictionApi> eviction_api_;
  GangPreemptionDriver preemption_;
  kube::DisruptionBudgetStore budget_store_;
  // A separate watch: if the controller may not read the budgets, it evicts no pods, but everything
  // else continues. Declared after the store to which it writes.
  kube::Watches budget_watches_;
  LeaderLoop loop_;
};

}  // namespace synergy::controller
