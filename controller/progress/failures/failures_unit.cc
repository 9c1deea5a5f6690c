#include "controller/progress/failures/failures_unit.h"

#include <utility>

namespace synergy::controller {
namespace {

constexpr char kFailedPods[] = "status.phase=Failed";
// Pods that have a node, and none of whose containers has run.
constexpr char kStartingPods[] = "status.phase=Pending,spec.nodeName!=";

// Allows for two late answers of an agent, because agents are queried once per interval.
Duration PatienceOf(const config::ControllerConfig& config) {
  if (!config.progress.enabled) return Duration::zero();
  return 2 * Duration(config.progress.interval) + std::chrono::seconds(5);
}

}  // namespace

FailuresUnit::FailuresUnit(const config::ControllerConfig& config, kube::ApiClient& any,
                           kube::ApiClient& acting, const wire::ObjectReader& reader,
                           FailureSources sources, MemoryRaiser memory, kube::EventRecorder& events,
                           std::function<bool()> may_act, const Clock& clock, Logger& log,
                           metrics::ControllerMetrics& metrics)
    : enabled_(config.failures_enabled),
      api_(kube::MakeFailureApi(any, acting, reader, config.own_namespace)),
      retry_api_(kube::MakeRetryApi(any, acting, config.own_namespace)),
      retries_(*retry_api_, memory, config.kueue_enabled, events, may_act, clock, log, metrics),
      keeper_(*api_, std::move(sources), config.failures_retries ? &retries_ : nullptr, events,
              std::move(may_act), PatienceOf(config), clock, log, metrics),
      watches_(any, reader, config.staleness_limit, clock, log) {}

void FailuresUnit::Start() {
  if (!enabled_) return;
  watches_.Start("failedpods", "/api/v1/pods", keeper_, kFailedPods);
  watches_.Start("startingpods", "/api/v1/pods", keeper_.starting(), kStartingPods);
}

void FailuresUnit::Look(bool acts, const std::stop_token& stop) {
  if (!enabled_) return;
  acts ? keeper_.Step(stop) : keeper_.Forget();
}

}  // namespace synergy::controller
