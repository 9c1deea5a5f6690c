#pragma once

// Watches failed pods, reports why they failed (failure_keeper.h) and, with failures.retries, acts
// on their retries (retry_keeper.h). With failures.prerun it also runs trials of waiting Jobs
// (prerun_keeper.h). It does nothing unless failures.enabled.
//
// Threading: one owner constructs, starts and stops it; one thread calls StartOver() and Look();
// the watches have their own threads.

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>

#include "config/controller_config.h"
#include "controller/progress/failures/failure_keeper.h"
#include "controller/progress/failures/prerun_keeper.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/api_client.h"
#include "kube/apis/events.h"
#include "kube/apis/failure_api.h"
#include "kube/apis/prerun_api.h"
#include "kube/apis/retry_api.h"
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
               kube::EventRecorder& events, std::function<bool()> may_act, const Clock& clock,
               Logger& log, metrics::ControllerMetrics& metrics);

  void Start();
  void Stop();

  // Call it when this process begins to lead.
  void StartOver();
  // Reports what is due if this process leads (`acts`).
  void Look(bool acts, const std::stop_token& stop);

 private:
  const bool enabled_;
  const bool has_preruns_;
  const std::unique_ptr<kube::FailureApi> api_;
  const std::unique_ptr<kube::RetryApi> retry_api_;
  RetryKeeper retries_;
  FailureKeeper keeper_;
  const std::unique_ptr<kube::PrerunApi> prerun_api_;
  PrerunKeeper preruns_;
  kube::Watches watches_;
  // Separate watches: without them no trial begins or ends, but failures are reported.
  kube::Watches prerun_watches_;
};

}  // namespace synergy::controller
