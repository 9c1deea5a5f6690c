#include "controller/profiles/profiles_unit.h"

#include <chrono>

#include "controller/profiles/profiler_settings.h"

namespace synergy::controller {
namespace {

// How often to check whether a status must be written.
constexpr Duration kStatuses = std::chrono::milliseconds(500);

}  // namespace

ProfilesUnit::ProfilesUnit(const config::ControllerConfig& config, WatchedCluster& cluster,
                           kube::ProfileApi& profile_api, kube::EventRecorder& events,
                           const Leadership& leadership, const Clock& clock, Logger& log,
                           metrics::ControllerMetrics& metrics)
    : mismatch_(ToProfilerSettings(config), cluster.profiles(), events, log),
      writer_(
          profile_api, cluster.profiles(), cluster.state(), clock, log, metrics,
          [&leadership] { return leadership.IsLeader(); }, config.node_headroom,
          config.max_speed_up, &mismatch_),
      writing_({.may_act = [&cluster,
                            &leadership] { return cluster.Complete() && leadership.IsLeader(); },
                .step = [this](const std::stop_token& stop) { writer_.WriteIfDue(stop); }},
               kStatuses, clock) {}

}  // namespace synergy::controller
