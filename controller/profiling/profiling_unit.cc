#include "controller/profiling/profiling_unit.h"

#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "controller/profiles/profiler_settings.h"

namespace synergy::controller {
namespace {

constexpr Duration kProfilingStep = std::chrono::seconds(2);

}  // namespace

ProfilingUnit::ProfilingUnit(const config::ControllerConfig& config,
                             const AdmissionSettings& admission, WatchedCluster& cluster,
                             ProgressUnit& progress, ProfileMismatch& mismatch,
                             kube::PodApi& pod_api, kube::ProfileApi& profile_api,
                             kube::EventRecorder& events, const Leadership& leadership,
                             const Clock& clock, Logger& log, metrics::ProfilingMetrics& metrics)
    : config_(config),
      log_(log),
      measurements_(cluster.profiles()),
      profiler_(ToProfilerSettings(config), measurements_),
      actions_(cluster.state(), cluster.profiles(), pod_api, profile_api, log, metrics,
               [&leadership] { return leadership.MayAct(); }),
      driver_(profiler_, cluster.state(), progress.store(), actions_, mismatch, clock,
              [&agents = progress.agents()](std::set<std::string> nodes) {
                agents.WatchClosely(AgentDirectory::Purpose::kProbes, std::move(nodes));
              }),
      rollout_(
          admission, cluster.view(), cluster.profiles(), cluster.state(), pod_api, events,
          [&leadership] { return leadership.MayAct(); }, clock, log),
      collector_(
          profile_api, cluster.profiles(), cluster.state(),
          [&leadership] { return leadership.MayAct(); }, clock, log, config.profiling.keep),
      loop_({.may_act = [&leadership] { return leadership.MayAct(); },
             .start_over = [this] { driver_.StartOver(); },
             .rest = [this] { driver_.Rest(); },
             .step =
                 [this](const std::stop_token& stop) {
                   driver_.Step(stop);
                   rollout_.RollOut(stop);
                   collector_.DeleteOneIfDue(stop);
                 }},
            kProfilingStep, clock) {}

void ProfilingUnit::Start() {
  if (config_.profiling.On(config_.progress)) return loop_.Start();
  if (config_.profiling.enabled)
    log_.Info("profiling is disabled because it needs progress: enable progress");
}

}  // namespace synergy::controller
