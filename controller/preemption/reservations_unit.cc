#include "controller/preemption/reservations_unit.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

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
                                   Report report, kube::PodApi& pod_api,
                                   kube::EventRecorder& events, const Leadership& leadership,
                                   const Clock& clock, Logger& log)
    : enabled_(config.reservations.enabled),
      has_autoscaler_(config.reservations.autoscaler),
      scheduler_name_(config.scheduler_name),
      guard_api_(kube::MakeNodeGuardApi(*clients.acting)),
      driver_(
          ToDriverSettings(config), cluster.state(), std::move(progress), times_,
          [this](const Pod& pod, WallTime now) {
            return std::any_of(scale_ups_.begin(), scale_ups_.end(), [&](const ScaleUps& each) {
              return each.IsNodeComingFor(pod, now);
            });
          },
          pod_api, events, [&leadership] { return leadership.MayAct(); }, clock, log),
      guards_(
          *guard_api_, [&leadership] { return leadership.MayAct(); }, log),
      watches_(*clients.any, reader, config.staleness_limit, clock, log),
      loop_({.may_act = [&leadership] { return leadership.MayAct(); },
             .sees = [this, &cluster] { return cluster.Complete() && watches_.Current(); },
             .start_over = [this] { driver_.StartOver(); },
             .step =
                 [this, report = std::move(report)](const std::stop_token& stop) {
                   driver_.Step(stop);
                   report(driver_.reservations());
                   if (has_autoscaler_) guards_.Step(driver_.reservations(), stop);
                 },
             .every_look =
                 [this, &cluster](bool acts, const std::stop_token&) {
                   if (!acts && cluster.Complete() && watches_.Current()) driver_.Observe();
                 }},
            kPlanning, clock) {}

void ReservationsUnit::Start() {
  if (!enabled_) return;
  // Include pods that have succeeded, so that the predictions of their remaining time can be
  // compared with the true times.
  watches_.Start("pod_times", "/api/v1/pods", times_, "spec.schedulerName=" + scheduler_name_);
  if (has_autoscaler_) {
    for (size_t i = 0; i < kScaleUpReasons.size(); ++i) {
      watches_.Start("scale_ups", "/api/v1/events", scale_ups_[i],
                     fmt::format("involvedObject.kind=Pod,reason={}", kScaleUpReasons[i]));
    }
    watches_.Start("guarded_nodes", "/api/v1/nodes", guards_.nodes());
  }
  loop_.Start();
}

void ReservationsUnit::Stop() {
  loop_.Stop();
  watches_.Stop();
}

}  // namespace synergy::controller
