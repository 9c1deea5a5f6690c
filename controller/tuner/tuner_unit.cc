#include "controller/tuner/tuner_unit.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace synergy::controller {
namespace {

// How long reservations count after they were set. They are set again every few seconds.
constexpr Duration kReservationsCount = std::chrono::minutes(1);
constexpr Duration kPublishingLook = std::chrono::seconds(1);

TunerSettings ToTunerSettings(const config::ControllerConfig& config) {
  const config::ControllerConfig::Tuner& tuner = config.tuner;
  TunerSettings settings;
  settings.scheduler_name = config.scheduler_name;
  settings.round = tuner.round;
  settings.least_gain = static_cast<double>(tuner.least_gain_percent) / 100;
  settings.max_speed_up = config.max_speed_up;
  settings.within_counted = !config.kueue_growth_beyond_quota;
  settings.keep = tuner.hold;
  settings.settle = tuner.settle;
  settings.patience = tuner.patience;
  settings.unshrinkable = tuner.unshrinkable;
  settings.idle_after = tuner.idle_after;
  settings.headroom = config.node_headroom;
  return settings;
}

ExecutorSettings ToExecutorSettings(const config::ControllerConfig& config) {
  return {.at_once = static_cast<size_t>(config.tuner.patches_at_once),
          .patches_per_second = config.tuner.patches_per_second};
}

std::function<bool()> AskMayAct(const Leadership& leadership) {
  return [&leadership] { return leadership.MayAct(); };
}

// Returns null if no pod should lend, which ends existing loans.
std::function<std::map<std::string, IdlePod>(Instant)> IdleReports(
    const config::ControllerConfig& config, const ProgressStore& store) {
  const Duration after = config.tuner.idle_after;
  if (after <= Duration::zero()) return {};
  return [&store, after](Instant now) { return store.Idle(after, now); };
}

// Returns null if storage is not divided.
std::function<std::vector<KnownProgress>(Instant)> StorageReports(
    const config::ControllerConfig& config, const ProgressStore& store) {
  if (!config.tuner.storage) return {};
  return [&store](Instant now) { return store.Read("", now).pods; };
}

}  // namespace

LeaderTask TuningTask(TunerDriver& driver, std::function<bool()> may_act, const Clock& clock) {
  return {.may_act = std::move(may_act),
          .start_over = [&driver] { driver.StartOver(); },
          .rest = [&driver] { driver.Rest(); },
          .due = [&driver, &clock] { return clock.Now() >= driver.wake(); },
          .step = [&driver](const std::stop_token&) { driver.Step(); }};
}

TunerUnit::TunerUnit(const config::ControllerConfig& config, WatchedCluster& cluster,
                     ProgressUnit& progress, kube::ObjectStore<Pod>& pods, kube::PodApi& pod_api,
                     kube::StorageApi& storage_api, kube::EventRecorder& events,
                     const Leadership& leadership, DecisionJournal* journal, const Clock& clock,
                     Logger& log, metrics::TunerMetrics& metrics)
    : enabled_(config.tuner.enabled),
      publishes_(config.tuner.storage),
      clock_(clock),
      waking_pods_(pods, [this] { waker_.Wake(); }),
      waking_nodes_(cluster.nodes(), [this] { waker_.Wake(); }),
      profiles_(cluster.profiles()),
      storage_(profiles_),
      tuner_(ToTunerSettings(config), profiles_, &storage_),
      calls_(cluster.state(), pod_api, events, clock, log, metrics, AskMayAct(leadership)),
      executor_(MakeActionExecutor(
          calls_, AskMayAct(leadership), [this] { waker_.Wake(); }, clock,
          ToExecutorSettings(config))),
      oom_watch_(cluster.state(), pod_api, events, AskMayAct(leadership), clock, log, metrics,
                 config.tuner.memory_watch),
      publisher_(storage_api, clock, log),
      driver_(tuner_, cluster.state(), *executor_, clock, metrics,
              {.profiles = &profiles_,
               .oom = &oom_watch_,
               .journal = journal,
               .idle = IdleReports(config, progress.store()),
               .storage = &storage_,
               .reports = StorageReports(config, progress.store()),
               .publish_storage =
                   [this](PlacementStorage storage) { publisher_.Offer(std::move(storage)); },
               .reservations = [this](Instant now) { return Reservations(now); },
               .watch_lenders =
                   [&agents = progress.agents()](std::set<std::string> nodes) {
                     agents.WatchClosely(AgentDirectory::Purpose::kLoans, std::move(nodes));
                   }}),
      loop_(TuningTask(driver_, AskMayAct(leadership), clock), kTuningLook, waker_),
      publishing_({.may_act = AskMayAct(leadership),
                   .start_over = [this] { publisher_.StartOver(); },
                   .step = [this](const std::stop_token& stop) { publisher_.Publish(stop); }},
                  kPublishingLook, clock) {}

void TunerUnit::SetReservations(std::vector<GpuReservation> reservations) {
  {
    const std::lock_guard lock(mutex_);
    const Instant now = clock_.Now();
    const bool lapsed = now - std::exchange(reservations_set_, now) > kReservationsCount;
    if (!lapsed && reservations_ == reservations) return;
    reservations_ = std::move(reservations);
  }
  waker_.Wake();
}

std::vector<GpuReservation> TunerUnit::Reservations(Instant now) const {
  const std::lock_guard lock(mutex_);
  return now - reservations_set_ <= kReservationsCount ? reservations_
                                                       : std::vector<GpuReservation>{};
}

void TunerUnit::Start() {
  if (!enabled_) return;
  loop_.Start();
  if (publishes_) publishing_.Start();
}

void TunerUnit::Stop() {
  // Stop the driver first, because it uses the executor.
  loop_.Stop();
  publishing_.Stop();
  executor_.reset();
}

}  // namespace synergy::controller
