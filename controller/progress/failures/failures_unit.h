#pragma once

// Watches failed pods, reports why they failed (failure_keeper.h) and, with failures.retries, acts
// on their retries (retry_keeper.h). It does nothing unless failures.enabled.
//
// Threading: one owner constructs, starts and stops it; one thread calls StartOver() and Look();
// the watch has its own thread.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "cluster/pod_failure.h"
#include "config/controller_config.h"
#include "controller/progress/failures/failure_keeper.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/api_client.h"
#include "kube/apis/events.h"
#include "kube/apis/failures/failure_api.h"
#include "kube/apis/failures/retry_api.h"
#include "kube/watches.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

class FailuresUnit {
 public:
  // How often to call Look().
  static constexpr Duration kLook = std::chrono::seconds(1);

  // `acting`: writes only while this process leads; `may_act` returns whether it does. All
  // references must outlive this object.
  FailuresUnit(const config::ControllerConfig& config, kube::ApiClient& any,
               kube::ApiClient& acting, const wire::ObjectReader& reader, FailureSources sources,
               MemoryRaiser memory, kube::EventRecorder& events, std::function<bool()> may_act,
               const Clock& clock, Logger& log, metrics::ControllerMetrics& metrics);

  void Start();
  void Stop() { watches_.Stop(); }

  // Call it when this process begins to lead.
  void StartOver() { keeper_.StartOver(); }
  // Reports what is due if this process leads (`acts`).
  void Look(bool acts, const std::stop_token& stop);
  // Returns the records by namespace, for the thread that calls Look(); null until they are read.
  const std::map<std::string, FailureHistory>* histories() const {
    return enabled_ && keeper_.HasHistories() ? &keeper_.histories() : nullptr;
  }

 private:
  const bool enabled_;
  const std::unique_ptr<kube::FailureApi> api_;
  const std::unique_ptr<kube::RetryApi> retry_api_;
  RetryKeeper retries_;
  FailureKeeper keeper_;
  kube::Watches watches_;
};

}  // namespace synergy::controller
