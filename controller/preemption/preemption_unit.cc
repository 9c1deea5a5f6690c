#include "controller/preemption/preemption_unit.h"

#include <chrono>

namespace synergy::controller {
namespace {

// How often to look for gangs that need preemption.
constexpr Duration kPreempting = std::chrono::seconds(1);

GangPreemptionSettings ToPreemptionSettings(const config::ControllerConfig& config) {
  GangPreemptionSettings settings;
  settings.rules = {.scheduler_name = config.scheduler_name,
                    .patience = config.gang_preemption.patience};
  settings.headroom = config.node_headroom;
  settings.keep = config.tuner.hold;
  return settings;
}

}  // namespace

PreemptionUnit::PreemptionUnit(const config::ControllerConfig& config, const ApiClients& clients,
                               const wire::ObjectReader& reader, WatchedCluster& cluster,
                               kube::PodApi& pod_api, kube::EventRecorder& events, PodActs& acts,
                               const Leadership& leadership, const Clock& clock, Logger& log,
                               metrics::ControllerMetrics& metrics)
    : enabled_(config.gang_preemption.enabled),
      watches_budgets_(config.gang_preemption.enabled || config.moves.enabled),
      eviction_api_(kube::MakeEvictionApi(*clients.acting)),
      preemption_(
          ToPreemptionSettings(config), cluster.state(), pod_api, *eviction_api_, events, acts,
          [&leadership] { return leadership.MayAct(); }, clock, log, metrics),
      budget_store_(cluster.state()),
      budget_watches_(*clients.any, reader, config.staleness_limit, clock, log),
      loop_({.may_act = [&leadership] { return leadership.MayAct(); },
             .sees = [this, &cluster] { return cluster.Complete() && budget_watches_.Current(); },
             .start_over = [this] { preemption_.StartOver(); },
             .step = [this](const std::stop_token& stop) { preemption_.Step(stop); }},
            kPreempting, clock) {}

void PreemptionUnit::Start() {
  if (watches_budgets_) {
    budget_watches_.Start("poddisruptionbudgets", "/apis/policy/v1/poddisruptionbudgets",
                          budget_store_);
  }
  if (enabled_) loop_.Start();
}

void PreemptionUnit::Stop() {
  loop_.Stop();
  budget_watches_.Stop();
}

}  // namespace synergy::controller
