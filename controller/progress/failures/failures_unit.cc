#include "controller/progress/failures/failures_unit.h"

#include <string>
#include <utility>

#include "kube/apis/round_api.h"
#include "wire/kueue/prerun.h"

namespace synergy::controller {
namespace {

constexpr char kFailedPods[] = "status.phase=Failed";

// Agents are queried once per interval, and two answers may be late.
Duration PatienceOf(const config::ControllerConfig& config) {
  if (!config.progress.enabled) return Duration::zero();
  return 2 * Duration(config.progress.interval) + std::chrono::seconds(5);
}

}  // namespace

FailuresUnit::FailuresUnit(const config::ControllerConfig& config, kube::ApiClient& any,
                           kube::ApiClient& acting, const wire::ObjectReader& reader,
                           FailureSources sources, kube::EventRecorder& events,
                           std::function<bool()> may_act, const Clock& clock, Logger& log,
                           metrics::ControllerMetrics& metrics)
    : enabled_(config.failures_enabled),
      has_preruns_(config.failures_prerun),
      api_(kube::MakeFailureApi(any, acting, reader, config.own_namespace)),
      retry_api_(kube::MakeRetryApi(any, acting, config.own_namespace)),
      retries_(*retry_api_, config.kueue_enabled, events, may_act, clock, log, metrics),
      keeper_(*api_, std::move(sources), config.failures_retries ? &retries_ : nullptr, events,
              may_act, PatienceOf(config), clock, log, metrics),
      prerun_api_(kube::MakePrerunApi(any, acting)),
      preruns_(*prerun_api_, config.gpu_resource, events, may_act, clock, log, metrics),
      watches_(any, reader, config.staleness_limit, clock, log),
      prerun_watches_(any, reader, config.staleness_limit, clock, log) {}

void FailuresUnit::Start() {
  if (!enabled_) return;
  watches_.Start("failedpods", "/api/v1/pods", keeper_, kFailedPods);
  if (!has_preruns_) return;
  const std::string kueue(kube::kKueuePath);
  prerun_watches_.Start("prerun_workloads", kueue + "workloads", preruns_.workloads());
  prerun_watches_.Start("prerun_queues", kueue + "localqueues", preruns_.queues());
  prerun_watches_.Start("prerun_trials", std::string(kube::kJobsPath), preruns_.trials(), {},
                        std::string(wire::kTrialLabel));
}

void FailuresUnit::Stop() {
  watches_.Stop();
  prerun_watches_.Stop();
}

void FailuresUnit::StartOver() {
  keeper_.StartOver();
  preruns_.StartOver();
}

void FailuresUnit::Look(bool acts, const std::stop_token& stop) {
  if (!enabled_) return;
  if (!acts) return keeper_.Forget();
  keeper_.Step(stop);
  if (has_preruns_ && prerun_watches_.Current() && keeper_.HasHistories())
    preruns_.Step(keeper_.histories(), stop);
}

}  // namespace synergy::controller
