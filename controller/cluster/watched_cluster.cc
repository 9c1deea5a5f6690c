#include "controller/cluster/watched_cluster.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "controller/cluster/pod_gauges.h"
#include "kube/apis/profile_api.h"
#include "kube/listing.h"

namespace synergy::controller {
namespace {

metrics::CacheGauge ToGauge(const std::string& resource, const kube::ReflectorStatus& status,
                            uint64_t objects, Instant now) {
  return {.resource = resource,
          .synced = status.synced,
          .staleness = status.synced ? now - status.last_contact : Duration::zero(),
          .objects = objects,
          .lists = status.lists,
          .watch_restarts = status.watch_restarts,
          .errors = status.errors,
          .events = status.events,
          .problems = status.problems,
          .unread = status.unread};
}

constexpr Duration kCounting = std::chrono::seconds(1);

DeviceRules DeviceRulesOf(const config::ControllerConfig& config) {
  return {config.gpu_resource, config.device_classes};
}

}  // namespace

WatchedCluster::WatchedCluster(const config::ControllerConfig& config, kube::ApiClient& client,
                               const wire::ObjectReader& reader, ClusterJournal* journal,
                               const Clock& clock, Logger& log)
    : config_(config),
      clock_(clock),
      profiles_(config.tolerance),
      stored_profiles_(profiles_),
      fair_shares_(state_, clock, config.node_headroom, config.least_pool_per_gpu),
      succeeded_(state_, kube::AskForSucceeded(client, reader, state_, clock, log), clock),
      pod_store_(state_),
      node_store_(state_),
      range_store_(state_),
      quota_store_(state_),
      devices_(state_, client, log),
      watches_(client, reader, config.staleness_limit, clock, log),
      view_(state_, profiles_, namespaces_, fair_shares_, [this] { return Complete(); }) {
  if (journal != nullptr) state_.SetJournal(journal);
}

void WatchedCluster::Start(kube::ObjectStore<Node>& nodes, kube::ObjectStore<Pod>& pods,
                           kube::ObjectStore<wire::AgentPod>& agents) {
  if (config_.dra_enabled) devices_.Start(watches_, DeviceRulesOf(config_), &claim_templates_);
  watches_.Start("nodes", "/api/v1/nodes", nodes);
  watches_.Start("pods", "/api/v1/pods", pods, kube::kLivingPods);
  watches_.Start("namespaces", "/api/v1/namespaces", namespaces_);
  watches_.Start("limitranges", "/api/v1/limitranges", range_store_);
  watches_.Start("resourcequotas", "/api/v1/resourcequotas", quota_store_);
  watches_.Start("trainingprofiles", kube::TrainingProfilesPath(), profiles_);
  if (config_.progress.enabled) {
    watches_.Start("agents", fmt::format("/api/v1/namespaces/{}/pods", config_.own_namespace),
                   agents, kube::kLivingPods, config_.progress.agents);
  }
  // All watches have been started, so their list is complete.
  health_ = std::make_unique<kube::Health>(watches_.resources(), clock_, config_.staleness_limit);
  refreshing_ = std::jthread([this](const std::stop_token& stop) {
    while (clock_.SleepFor(FairShareCache::kMostAge / 4, stop)) fair_shares_.Refresh();
  });
  counting_ = std::jthread([this](const std::stop_token& stop) {
    while (clock_.SleepFor(kCounting, stop)) {
      if (Complete()) succeeded_.Look(stop);
    }
  });
}

GpusOfTemplate WatchedCluster::gpus_of_template() const {
  if (!config_.dra_enabled) return nullptr;
  return [this, rules = DeviceRulesOf(config_)](const std::string& pod_namespace,
                                                const std::string& name) -> std::optional<Gpus> {
    const auto known = claim_templates_.Find(pod_namespace + "/" + name);
    if (!known) return std::nullopt;
    const RequestedDevices requested = GpusOf(known->requests, rules);
    return requested.open ? std::nullopt : std::optional(requested.gpus);
  };
}

void WatchedCluster::ShutDown() {
  if (health_) health_->ShutDown();
}

void WatchedCluster::Stop() {
  for (std::jthread* const thread : {&refreshing_, &counting_}) {
    thread->request_stop();
    if (thread->joinable()) thread->join();
  }
  watches_.Stop();
}

void WatchedCluster::AddGauges(metrics::ControllerGauges& gauges, size_t agents) const {
  const auto snapshot = state_.Snapshot();
  uint64_t nodes = 0;
  for (NodeIndex index = 0; index < snapshot->size(); ++index)
    nodes += snapshot->node(index).exists ? 1 : 0;
  const ProfileStore::Counts profiles = profiles_.counts();
  const DeviceCatalog::Counts devices = state_.known_devices();
  const Instant now = clock_.Now();
  const std::map<std::string, uint64_t> objects = {
      {"nodes", nodes},
      {"pods", state_.known_pods()},
      {"namespaces", namespaces_.size()},
      {"limitranges", snapshot->limits().ranges()},
      {"resourcequotas", snapshot->limits().quotas()},
      {"trainingprofiles", profiles.valid + profiles.invalid},
      {"resourceclaims", devices.claims},
      {"resourceslices", devices.slices},
      {"deviceclasses", devices.classes},
      {"resourceclaimtemplates", claim_templates_.size()},
      {"agents", agents}};
  for (const kube::WatchedResource& resource : watches_.resources()) {
    gauges.caches.push_back(
        ToGauge(resource.name, resource.status(), objects.at(resource.name), now));
  }
  gauges.pods =
      ReadPodGauges(*snapshot, config_.gpu_resource, stored_profiles_, config_.max_speed_up);
  gauges.devices = ReadDeviceGauges(*snapshot);
  for (const auto& waiting : {state_.WaitingPods(), state_.WaitingSharers()}) {
    for (const auto& pod : waiting)
      ++gauges.waiting_pods[std::string(WaitingReason(*pod, config_.gpu_resource))];
  }
  gauges.valid_profiles = profiles.valid;
  gauges.invalid_profiles = profiles.invalid;
  gauges.ready = NotReadyReason().empty();
}

}  // namespace synergy::controller
