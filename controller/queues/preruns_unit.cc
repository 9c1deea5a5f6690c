#include "controller/queues/preruns_unit.h"

#include <utility>

#include "kube/apis/round_api.h"
#include "wire/kueue/prerun.h"

namespace synergy::controller {

PrerunsUnit::PrerunsUnit(const config::ControllerConfig& config, const ApiClients& clients,
                         const wire::ObjectReader& reader, kube::EventRecorder& events,
                         std::function<bool()> may_act, const Clock& clock, Logger& log,
                         metrics::ControllerMetrics& metrics)
    : enabled_(config.failures_prerun),
      api_(kube::MakePrerunApi(*clients.any, *clients.acting)),
      keeper_(*api_, {config.gpu_resource, config.prerun_priority_class}, events,
              std::move(may_act), clock, log, metrics),
      watches_(*clients.any, reader, config.staleness_limit, clock, log) {}

void PrerunsUnit::Start() {
  if (!enabled_) return;
  const std::string kueue(kube::kKueuePath);
  watches_.Start("prerun_workloads", kueue + "workloads", keeper_.workloads());
  watches_.Start("prerun_queues", kueue + "localqueues", keeper_.queues());
  watches_.Start("prerun_trials", std::string(kube::kJobsPath), keeper_.trials(), {},
                 std::string(wire::kTrialLabel));
}

void PrerunsUnit::Step(const std::map<std::string, FailureHistory>& records,
                       const std::stop_token& stop) {
  if (enabled_ && watches_.Current()) keeper_.Step(records, stop);
}

}  // namespace synergy::controller
