#include "controller/tuner/turns/turns_unit.h"

#include <chrono>

namespace synergy::controller {
namespace {

constexpr Duration kTurnsStep = std::chrono::seconds(2);

}  // namespace

TurnsUnit::TurnsUnit(const config::ControllerConfig& config, WatchedCluster& cluster,
                     ProgressUnit& progress, kube::PodApi& pod_api, kube::ProfileApi& profile_api,
                     kube::EventRecorder& events, const Leadership& leadership, const Clock& clock,
                     Logger& log, metrics::TurnMetrics& metrics)
    : enabled_(config.turns.enabled),
      renewal_(progress.turn_renewal()),
      results_(
          cluster.profiles(), profile_api, [&leadership] { return leadership.MayAct(); }, clock,
          log, metrics),
      driver_(
          {.gpu_resource = config.gpu_resource,
           .quantum = config.turns.quantum,
           .packing = config.turns.packing},
          cluster.state(), progress.store(), pod_api, results_, events, renewal_,
          [&leadership] { return leadership.MayAct(); }, clock, log, metrics),
      loop_(
          {.may_act = [&cluster, &leadership] { return leadership.MayAct() && cluster.Complete(); },
           .start_over = [this] { driver_.StartOver(); },
           .rest = [this] { driver_.Rest(); },
           .step = [this](const std::stop_token& stop) { driver_.Step(stop); }},
          kTurnsStep, clock) {}

void TurnsUnit::Start() {
  if (enabled_) loop_.Start();
}

void TurnsUnit::Stop() {
  loop_.Stop();
  renewal_.End();
}

}  // namespace synergy::controller
