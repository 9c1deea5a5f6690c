#include "controller/program.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "admission/admission.h"
#include "cluster/cluster_state.h"
#include "config/text_file.h"
#include "controller/cluster_view.h"
#include "controller/fair_shares.h"
#include "controller/namespace_store.h"
#include "controller/pod_gauges.h"
#include "controller/profile_store.h"
#include "controller/status_writer.h"
#include "controller/tuner.h"
#include "controller/tuning.h"
#include "controller/webhook.h"
#include "core/version.h"
#include "daemon/probes.h"
#include "http/server.h"
#include "json/objects.h"
#include "kube/api_client.h"
#include "kube/cluster_store.h"
#include "kube/events.h"
#include "kube/health.h"
#include "kube/instance.h"
#include "kube/leader_election.h"
#include "kube/reflector.h"
#include "kube/training_profiles.h"
#include "metrics/controller_metrics.h"
#include "metrics/tuner_metrics.h"
#include "profile/job_profile.h"

namespace synergy::controller {
namespace {

admission::Settings ToSettings(const config::ControllerConfig& config) {
  admission::Settings settings;
  settings.gpu_resource = config.gpu_resource;
  settings.scheduler_name = config.scheduler_name;
  settings.managed_schedulers = config.managed_schedulers;
  settings.excluded_namespaces = config.excluded_namespaces;
  if (!config.own_namespace.empty()) settings.excluded_namespaces.push_back(config.own_namespace);
  settings.enforcement = config.enforcement;
  return settings;
}

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
          .problems = status.problems};
}

TunerOptions ToOptions(const config::ControllerConfig& config) {
  const config::ControllerConfig::Tuner& tuner = config.tuner;
  TunerOptions options;
  options.scheduler_name = config.scheduler_name;
  options.round = tuner.round;
  options.least_gain = static_cast<double>(tuner.least_gain_percent) / 100;
  options.hold = tuner.hold;
  options.changes.settle = tuner.settle;
  options.changes.patience = tuner.patience;
  options.changes.unshrinkable = tuner.unshrinkable;
  return options;
}

TunedProfile FindTunedProfile(const ProfileStore& profiles, const std::string& pod_namespace,
                              const std::string& name, Gpus gpus) {
  const std::shared_ptr<const KnownProfile> known = profiles.Find(pod_namespace, name);
  if (!known) return {};
  return {ForGpus(known->object.profile, gpus), known->object.generation};
}

class RunningProgram final : public Program {
 public:
  RunningProgram(const config::ControllerConfig& config, std::unique_ptr<kube::ApiClient> client,
                 const Clock& clock, Logger& log)
      : config_(config),
        clock_(clock),
        log_(log),
        client_(std::move(client)),
        reader_(config.gpu_resource),
        metrics_(config.gpu_resource),
        profiles_(config.tolerance),
        fair_shares_(state_, clock),
        view_(profiles_, namespaces_, fair_shares_, [this] { return Complete(); }),
        webhook_(ToSettings(config), view_, clock, log, metrics_),
        status_writer_(*client_, profiles_, state_, clock, log, metrics_),
        events_(kube::EventRecorder::Start(*client_, clock, log, "synergy-controller",
                                           kube::InstanceName())),
        election_(StartElection()),
        tuner_(
            state_,
            [this](const std::string& pod_namespace, const std::string& name, Gpus gpus) {
              return FindTunedProfile(profiles_, pod_namespace, name, gpus);
            },
            *client_, reader_, *events_, clock, log, tuner_metrics_, ToOptions(config)),
        tuning_(
            state_, tuner_, *election_, [this] { return MayTune(); }, tuner_metrics_),
        node_store_(state_) {}

  ~RunningProgram() override { Stop(); }

  Result<> Start() {
    if (const Result<> made = MakeServers(); !made) return made;
    StartWatches();
    health_ = std::make_unique<kube::Health>(resources_, clock_, config_.staleness_limit);
    metrics_.SetGauges([this] { return ReadGauges(); });
    AddRoutes();
    refreshing_ = std::jthread([this](const std::stop_token& stop) {
      while (clock_.SleepFor(FairShares::kMostAge / 4, stop)) fair_shares_.Refresh();
    });
    status_writing_ = std::jthread([this](const std::stop_token& stop) {
      while (clock_.SleepFor(std::chrono::milliseconds(500), stop)) {
        if (Complete() && election_->IsLeader()) status_writer_.WriteIfDue(stop);
      }
    });
    if (config_.tuner.enabled) tuning_.Start();
    if (const Result<> started = webhook_server_->Start(); !started) return started;
    return http_server_->Start();
  }

  uint16_t webhook_port() const override { return webhook_server_->port(); }
  uint16_t http_port() const override { return http_server_->port(); }

  void Stop() override {
    if (std::exchange(stopped_, true)) return;
    if (health_) health_->ShutDown();
    if (webhook_server_) webhook_server_->Stop(config_.shutdown_grace);
    if (http_server_) http_server_->Stop(config_.shutdown_grace);
    tuning_.Stop();
    for (std::jthread* const thread : {&status_writing_, &refreshing_}) {
      thread->request_stop();
      if (thread->joinable()) thread->join();
    }
    pods_.reset();
    nodes_.reset();
    namespaces_watch_.reset();
    profiles_watch_.reset();
  }

 private:
  Result<> MakeServers() {
    auto options = daemon::ListenOn(config_.listen);
    if (!options) return Fail(options.error());
    options->certificate_file = config_.tls_certificate_file;
    options->key_file = config_.tls_key_file;
    options->max_body_bytes = static_cast<size_t>(config_.max_body_bytes);
    options->error_response = [this](const http::Request&, int status, std::string_view reason) {
      metrics_.CountBadInput(status == 413 ? "too_large" : "http");
      log_.Warn("bad request", {{"status", status}, {"reason", reason}});
      return daemon::Text(status, std::string(reason) + "\n");
    };
    options->on_failed_handshake = [this] { metrics_.CountBadInput("tls"); };
    options->on_problem = [this](std::string_view problem) {
      log_.Warn("webhook server", {{"problem", problem}});
    };
    auto webhook_server = http::Server::Create(*std::move(options));
    if (!webhook_server) return Fail(webhook_server.error());
    webhook_server_ = *std::move(webhook_server);

    auto plain = daemon::ListenOn(config_.http_listen);
    if (!plain) return Fail(plain.error());
    plain->max_body_bytes = 1024;
    auto http_server = http::Server::Create(*std::move(plain));
    if (!http_server) return Fail(http_server.error());
    http_server_ = *std::move(http_server);
    return {};
  }

  void StartWatches() {
    const auto seed = static_cast<uint64_t>(clock_.WallNow().time_since_epoch().count());
    const auto watch = [&](std::string path, std::string field_selector, uint64_t offset) {
      return kube::WatchWithin(config_.staleness_limit, std::move(path), std::move(field_selector),
                               seed + offset);
    };
    nodes_ = kube::Reflector<Node>::Start(*client_, reader_, node_store_, clock_, log_,
                                          watch("/api/v1/nodes", "", 0));
    // Terminal pods take nothing.
    pods_ = kube::Reflector<Pod>::Start(
        *client_, reader_, tuning_, clock_, log_,
        watch("/api/v1/pods", "status.phase!=Succeeded,status.phase!=Failed", 1));
    namespaces_watch_ = kube::Reflector<Namespace>::Start(*client_, reader_, namespaces_, clock_,
                                                          log_, watch("/api/v1/namespaces", "", 2));
    profiles_watch_ = kube::Reflector<ProfileObject>::Start(
        *client_, reader_, profiles_, clock_, log_,
        watch(std::string(kube::kTrainingProfilesPath), "", 3));
    resources_ = {{"nodes", [this] { return nodes_->status(); }},
                  {"pods", [this] { return pods_->status(); }},
                  {"namespaces", [this] { return namespaces_watch_->status(); }},
                  {"trainingprofiles", [this] { return profiles_watch_->status(); }}};
  }

  void AddRoutes() {
    webhook_server_->Handle("POST", "/mutate-pod", [this](const http::Request& request) {
      return webhook_.ReviewPod(request);
    });
    webhook_server_->Handle(
        "POST", "/validate-trainingprofile",
        [this](const http::Request& request) { return webhook_.ReviewProfile(request); });
    daemon::AddProbes(*http_server_,
                      {.not_ready = [this] { return health_->NotReadyReason(); },
                       .metrics = [this] { return metrics_.Render() + tuner_metrics_.Render(); }});
  }

  bool Complete() const {
    return std::all_of(resources_.begin(), resources_.end(),
                       [](const auto& resource) { return resource.status().synced; });
  }

  std::unique_ptr<kube::LeaderElection> StartElection() {
    kube::LeaderElectionOptions options;
    options.lease_namespace = config_.own_namespace;
    options.name = config_.lease_name;
    // A process that starts again is another one.
    options.identity =
        fmt::format("{}_{}", kube::InstanceName(), clock_.WallNow().time_since_epoch().count());
    return kube::LeaderElection::Start(*client_, clock_, log_, std::move(options));
  }

  // What is not seen any more, or will not be rewritten on its way in, is not changed either.
  bool MayTune() const {
    if (!health_->NotReadyReason().empty()) return false;
    const auto expiry = webhook_server_->CertificateExpiry();
    return !expiry || *expiry > clock_.WallNow();
  }

  metrics::ControllerGauges ReadGauges() const {
    metrics::ControllerGauges gauges;
    const auto snapshot = state_.Snapshot();
    uint64_t nodes = 0;
    for (NodeIndex index = 0; index < snapshot->size(); ++index)
      nodes += snapshot->node(index).exists ? 1 : 0;
    const ProfileStore::Counts profiles = profiles_.counts();
    const Instant now = clock_.Now();
    gauges.caches = {ToGauge("nodes", nodes_->status(), nodes, now),
                     ToGauge("pods", pods_->status(), state_.known_pods(), now),
                     ToGauge("namespaces", namespaces_watch_->status(), namespaces_.size(), now),
                     ToGauge("trainingprofiles", profiles_watch_->status(),
                             profiles.valid + profiles.invalid, now)};
    gauges.pods = ReadPodGauges(
        *snapshot, [this](const std::string& pod_namespace, const std::string& name, Gpus gpus) {
          return FindTunedProfile(profiles_, pod_namespace, name, gpus);
        });
    for (const auto& pod : tuner_.WaitingPods())
      ++gauges.waiting_pods[std::string(WaitingReason(*pod, config_.gpu_resource))];
    gauges.valid_profiles = profiles.valid;
    gauges.invalid_profiles = profiles.invalid;
    gauges.certificate_expiry = webhook_server_->CertificateExpiry();
    gauges.ready = health_->NotReadyReason().empty();
    return gauges;
  }

  const config::ControllerConfig config_;
  const Clock& clock_;
  Logger& log_;
  std::unique_ptr<kube::ApiClient> client_;
  std::unique_ptr<http::Server> webhook_server_;
  std::unique_ptr<http::Server> http_server_;
  json::ObjectReader reader_;
  metrics::ControllerMetrics metrics_;
  ClusterState state_;
  ProfileStore profiles_;
  NamespaceStore namespaces_;
  FairShares fair_shares_;
  ClusterView view_;
  Webhook webhook_;
  StatusWriter status_writer_;
  metrics::TunerMetrics tuner_metrics_;
  std::unique_ptr<kube::EventRecorder> events_;
  std::unique_ptr<kube::LeaderElection> election_;
  Tuner tuner_;
  Tuning tuning_;
  kube::NodeStore node_store_;
  std::unique_ptr<kube::Reflector<Pod>> pods_;
  std::unique_ptr<kube::Reflector<Node>> nodes_;
  std::unique_ptr<kube::Reflector<Namespace>> namespaces_watch_;
  std::unique_ptr<kube::Reflector<ProfileObject>> profiles_watch_;
  std::vector<kube::WatchedResource> resources_;
  std::unique_ptr<kube::Health> health_;
  std::jthread refreshing_;
  std::jthread status_writing_;
  bool stopped_ = false;
};

// In a pod, the folder of the service account's token tells the namespace too.
std::string OwnNamespace(const config::ControllerConfig& config,
                         const config::ClusterAccess& access) {
  if (!config.own_namespace.empty()) return config.own_namespace;
  if (access.token_file.empty()) return "synergy-system";
  const auto file = std::filesystem::path(access.token_file).parent_path() / "namespace";
  const Result<std::string> text = config::ReadTextFile(file.string());
  return text ? text->substr(0, text->find('\n')) : "synergy-system";
}

}  // namespace

Result<std::unique_ptr<Program>> Program::Start(const config::ControllerConfig& config,
                                                const config::ClusterAccess& access,
                                                const Clock& clock, Logger& log) {
  auto client = kube::ApiClient::Create(access, {.user_agent = "synergy-controller"});
  if (!client) return Fail(client.error());
  config::ControllerConfig complete = config;
  complete.own_namespace = OwnNamespace(config, access);
  auto program = std::make_unique<RunningProgram>(complete, *std::move(client), clock, log);
  if (const Result<> started = program->Start(); !started) return Fail(started.error());
  log.Info("serving", {{"webhook", config.listen},
                       {"port", program->webhook_port()},
                       {"http", config.http_listen},
                       {"http_port", program->http_port()},
                       {"api_server", access.server},
                       {"version", Version()},
                       {"commit", Commit()}});
  return program;
}

}  // namespace synergy::controller
