#pragma once

// Watches Kueue's Workloads and local queues and the trials of Jobs, and runs PrerunKeeper on them.
// Does nothing unless failures.prerun is set.
//
// Threading: one owner constructs, starts and stops it; one thread calls StartOver() and Step();
// the watches have their own threads.
//
// This file is separate so that PrerunKeeper can be tested without watches.

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "cluster/pod_failure.h"
#include "config/controller_config.h"
#include "controller/cluster/api_clients.h"
#include "controller/queues/prerun_keeper.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/failures/prerun_api.h"
#include "kube/watches.h"
#include "metrics/controller_metrics.h"
#include "wire/objects/objects.h"

namespace synergy::controller {

class PrerunsUnit {
 public:
  // `may_act`: returns whether this process leads. All references must outlive this object.
  PrerunsUnit(const config::ControllerConfig& config, const ApiClients& clients,
              const wire::ObjectReader& reader, kube::EventRecorder& events,
              std::function<bool()> may_act, const Clock& clock, Logger& log,
              metrics::ControllerMetrics& metrics);

  void Start();
  void Stop() { watches_.Stop(); }

  // Call it when this process begins to lead.
  void StartOver() { keeper_.StartOver(); }
  // `records`: records of failures, by namespace. Call it about every second while this process
  // leads.
  void Step(const std::map<std::string, FailureHistory>& records, const std::stop_token& stop);

 private:
  const bool enabled_;
  const std::unique_ptr<kube::PrerunApi> api_;
  PrerunKeeper keeper_;
  // These watches are separate, so that everything but trials continues while they fail. Declared
  // after the stores to which they write.
  kube::Watches watches_;
};

}  // namespace synergy::controller
