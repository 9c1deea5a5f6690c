#include "controller/preemption/reservations_unit.h"

#include <chrono>
#include <cstddef>
#include <utility>

namespace synergy::controller {
namespace {

// How often to plan.
constexpr Duration kPlanning = std::chrono::seconds(5);

ReservationDriverSettings ToDriverSettings(const config::ControllerConfig& config) {
  ReservationDriverSettings settings;
  settings.scheduler_name = config.scheduler_name;
  settings.reservations.after = config.reservations.after;
  settings.reservations.most = static_cast<size_t>(config.reservations.most);
  settings.reservations.least_gpus = Gpus(config.reservations.least_gpus);
  return settings;
}

}  // namespace

ReservationsUnit::ReservationsUnit(const config::ControllerConfig& config,
                                   const ApiClients& clients, const wire::ObjectReader& reader,
                                   WatchedCluster& cluster, TrainingEnds::ProgressOf progress,
                                   kube::PodApi& pod_api, kube::EventRecorder& events,
                                   const Leadership& leadership, const Clock& clock, Logger& log)
    : enabled_(config.reservations.enabled),
      scheduler_name_(config.scheduler_name),
      driver_(
          ToDriverSettings(config), cluster.state(), std::move(progress), times_, pod_api, events,
          [&leadership] { return leadership.MayAct(); }, clock, log),
      watches_(*clients.any, reader, config.staleness_limit, clock, log),
      loop_({.may_act =
                 [this, &cluster, &leadership] {
                   return leadership.MayAct() && cluster.Complete() && watches_.Current();
                 },
             .start_over = [this] { driver_.StartOver(); },
             .step = [this](const std::stop_token& stop) { driver_.Step(stop); },
             .every_look =
                 [this, &cluster](bool acts, const std::stop_token&) {
                   if (!acts && cluster.Complete() && watches_.Current()) driver_.Observe();
                 }},
            kPlanning, clock) {}

void ReservationsUnit::Start() {
  if (!enabled_) return;
  // Include pods that have succeeded, whose trainings' predicted remaining times are compared with
  // the true ones.
  watches_.Start("pod_times", "/api/v1/pods", times_, "spec.schedulerName=" + scheduler_name_);
  loop_.Start();
}

void ReservationsUnit::Stop() {
  loop_.Stop();
  watches_.Stop();
}

}  // namespace synergy::controller
