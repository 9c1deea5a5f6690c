#include "controller/preemption/moves_unit.h"

#include <chrono>
#include <utility>

namespace synergy::controller {
namespace {

// How often to look at a move in progress.
constexpr Duration kMoving = std::chrono::seconds(1);

MoveDriverSettings ToMoveSettings(const config::ControllerConfig& config) {
  MoveDriverSettings settings;
  settings.scheduler_name = config.scheduler_name;
  settings.after = config.moves.after;
  settings.restart_cost = config.moves.restart_cost;
  settings.headroom = config.node_headroom;
  settings.keep = config.tuner.hold;
  return settings;
}

MoveSources ToSources(WatchedCluster& cluster, const KeyedStore<wire::PodTimes>& times,
                      const KeyedStore<wire::MovablePod>& pods, TrainingEnds::ProgressOf progress) {
  return {.state = cluster.state(),
          .times = times,
          .pods = pods,
          .progress = std::move(progress),
          .checkpoints = [&profiles = cluster.profiles()](const std::string& profile_namespace,
                                                          const std::string& name) {
            const auto profile = profiles.Find(profile_namespace, name);
            return profile != nullptr && profile->object.checkpoints;
          }};
}

}  // namespace

MovesUnit::MovesUnit(const config::ControllerConfig& config, const ApiClients& clients,
                     const wire::ObjectReader& reader, WatchedCluster& cluster,
                     TrainingEnds::ProgressOf progress, const PreemptionUnit& preemption,
                     kube::PodApi& pod_api, kube::EventRecorder& events, PodActs& acts,
                     const Leadership& leadership, const Clock& clock, Logger& log,
                     metrics::ControllerMetrics& metrics)
    : enabled_(config.moves.enabled),
      scheduler_name_(config.scheduler_name),
      move_api_(kube::MakeMoveApi(*clients.any, *clients.acting, config.own_namespace)),
      driver_(
          ToMoveSettings(config), ToSources(cluster, times_, pods_, std::move(progress)), pod_api,
          preemption.eviction_api(), *move_api_, events, acts,
          [&leadership] { return leadership.MayAct(); }, clock, log, metrics),
      watches_(*clients.any, reader, config.staleness_limit, clock, log),
      loop_({.may_act = [&leadership] { return leadership.MayAct(); },
             .sees =
                 [this, &cluster, &preemption] {
                   return cluster.Complete() && watches_.Current() && preemption.SeesBudgets();
                 },
             .start_over = [this] { driver_.StartOver(); },
             .step = [this](const std::stop_token& stop) { driver_.Step(stop); }},
            kMoving, clock) {}

void MovesUnit::Start() {
  if (!enabled_) return;
  const std::string selector = "spec.schedulerName=" + scheduler_name_;
  watches_.Start("pod_times", "/api/v1/pods", times_, selector);
  watches_.Start("movable_pods", "/api/v1/pods", pods_, selector);
  loop_.Start();
}

void MovesUnit::Stop() {
  loop_.Stop();
  watches_.Stop();
}

}  // namespace synergy::controller
