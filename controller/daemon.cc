#include "controller/daemon.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "admission/admission.h"
#include "cluster/state/cluster_state.h"
#include "config/text_file.h"
#include "controller/admission/gang_owners.h"
#include "controller/admission/pod_sizer.h"
#include "controller/admission/warning_teller.h"
#include "controller/admission/webhook.h"
#include "controller/cluster/cluster_view.h"
#include "controller/cluster/fair_share_cache.h"
#include "controller/cluster/namespace_store.h"
#include "controller/cluster/pod_gauges.h"
#include "controller/cluster/profile_store.h"
#include "controller/cluster/waking_store.h"
#include "controller/gang_preemption.h"
#include "controller/profiles/contradiction_watch.h"
#include "controller/profiles/measured_keeper.h"
#include "controller/profiles/memory_harm_watch.h"
#include "controller/profiles/pod_adopter.h"
#include "controller/profiles/status_writer.h"
#include "controller/profiles/tuner_profiles.h"
#include "controller/profiling/profiling.h"
#include "controller/profiling/profiling_actions.h"
#include "controller/profiling/profiling_driver.h"
#include "controller/progress/agent_directory.h"
#include "controller/progress/progress_answer.h"
#include "controller/progress/progress_book.h"
#include "controller/progress/progress_puller.h"
#include "controller/progress/progress_server.h"
#include "controller/queues/round_queues.h"
#include "controller/queues/rounds_driver.h"
#include "controller/queues/type_checks.h"
#include "controller/queues/type_facts.h"
#include "controller/tuner/tuner_actions.h"
#include "controller/tuner/tuner_driver.h"
#include "controller/tuner/tuner_hands.h"
#include "controller/tuner/tuning.h"
#include "core/version.h"
#include "daemon/probes.h"
#include "daemon/run.h"
#include "engine/profiler/profiler.h"
#include "engine/tuner/tuner.h"
#include "http/server/server.h"
#include "kube/api_client.h"
#include "kube/apis/events.h"
#include "kube/apis/eviction_api.h"
#include "kube/apis/pod_api.h"
#include "kube/apis/profile_api.h"
#include "kube/apis/round_api.h"
#include "kube/cluster_store.h"
#include "kube/leader_election.h"
#include "kube/listing.h"
#include "kube/token_gate.h"
#include "kube/watches.h"
#include "metrics/controller_metrics.h"
#include "metrics/profiling_metrics.h"
#include "metrics/round_metrics.h"
#include "metrics/tuner_metrics.h"
#include "profile/job_profile.h"
#include "record/recorder.h"
#include "wire/kueue/kueue.h"
#include "wire/objects/objects.h"

namespace synergy::controller {
namespace {

AdmissionSettings ToSettings(const config::ControllerConfig& config) {
  AdmissionSettings settings;
  settings.gpu_resource = config.gpu_resource;
  settings.scheduler_name = config.scheduler_name;
  settings.scope = config.scope;
  settings.managed_schedulers = config.managed_schedulers;
  settings.excluded_namespaces = config.excluded_namespaces;
  if (!config.own_namespace.empty()) settings.excluded_namespaces.push_back(config.own_namespace);
  settings.enforcement = config.enforcement;
  settings.max_speed_up = config.max_speed_up;
  settings.profiling = config.profiling.On(config.progress);
  return settings;
}

ProfilerSettings ToProfilerSettings(const config::ControllerConfig& config) {
  const config::ControllerConfig::Profiling& profiling = config.profiling;
  ProfilerSettings settings;
  settings.warm_up = profiling.warm_up;
  settings.window = profiling.window;
  settings.probe_window = profiling.probe_window;
  settings.probe_lead = profiling.probe_lead;
  settings.longest_window = std::max<Duration>(settings.longest_window, 2 * profiling.window);
  settings.most_loss = profiling.most_loss_percent / 100;
  settings.probes_at_once = static_cast<size_t>(profiling.probes_at_once);
  settings.drift = static_cast<double>(profiling.drift_percent) / 100;
  settings.drift_time = profiling.drift_time;
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
          .problems = status.problems,
          .unread = status.unread};
}

TunerSettings ToTunerSettings(const config::ControllerConfig& config) {
  const config::ControllerConfig::Tuner& tuner = config.tuner;
  TunerSettings settings;
  settings.scheduler_name = config.scheduler_name;
  settings.round = tuner.round;
  settings.least_gain = static_cast<double>(tuner.least_gain_percent) / 100;
  settings.max_speed_up = config.max_speed_up;
  settings.keep = tuner.hold;
  settings.settle = tuner.settle;
  settings.patience = tuner.patience;
  settings.unshrinkable = tuner.unshrinkable;
  settings.headroom = config.node_headroom;
  return settings;
}

GangPreemptionSettings ToPreemptionSettings(const config::ControllerConfig& config) {
  GangPreemptionSettings settings;
  settings.rules = {.scheduler_name = config.scheduler_name,
                    .patience = config.gang_preemption.patience};
  settings.headroom = config.node_headroom;
  settings.keep = config.tuner.hold;
  return settings;
}

// Of a round in which a large cluster is divided again; a few MB.
constexpr size_t kQueuedEvents = 20000;
// How often waiting pods are looked at that have no amounts yet, where something has changed.
constexpr Duration kSizing = std::chrono::milliseconds(250);

// Both certificates and the authority are read again when they change.
Result<PullSettings> ToPullSettings(const config::ControllerConfig& config) {
  PullSettings settings;
  settings.port = static_cast<uint16_t>(config.progress.port);
  settings.tls.server_name = config.progress.server_name;
  settings.tls.ca_file = config.progress.ca_file;
  settings.tls.certificate_file = config.tls_certificate_file;
  settings.tls.key_file = config.tls_key_file;
  http::ClientTls& tls = settings.tls;
  for (const auto& [file, text] : {std::pair(&tls.ca_file, &tls.ca_pem),
                                   std::pair(&tls.certificate_file, &tls.certificate_pem),
                                   std::pair(&tls.key_file, &tls.key_pem)}) {
    auto read = config::ReadTextFile(*file);
    if (!read) return Fail(read.error());
    *text = *std::move(read);
  }
  // The other half is for those who ask the controller.
  settings.kept_connections = daemon::RaiseDescriptorLimit() / 2;
  return settings;
}

// Of a read that a review waits for, which the API server gives three seconds (webhook.yaml).
constexpr std::chrono::milliseconds kReview{1000};

// How often it is looked whose turn it is.
constexpr Duration kRounds = std::chrono::seconds(1);
// How often it is looked whether somebody is to be evicted for a gang.
constexpr Duration kPreempting = std::chrono::seconds(1);

struct Clients {
  std::unique_ptr<kube::ApiClient> any;
  // For what the leader alone does: of a refused write it is asked again who leads.
  std::unique_ptr<kube::ApiClient> acting;
  std::unique_ptr<kube::ApiClient> quick;  // for reads that a review waits for
  // The election that `acting` asks; null: not yet known.
  std::shared_ptr<std::atomic<const kube::LeaderElection*>> election =
      std::make_shared<std::atomic<const kube::LeaderElection*>>(nullptr);
};

Result<Clients> MakeClients(const config::ClusterAccess& access) {
  Clients clients;
  const auto make = [&access](kube::ApiClientOptions options) {
    options.user_agent = "synergy-controller";
    return kube::ApiClient::Create(access, std::move(options));
  };
  auto any = make({});
  if (!any) return Fail(any.error());
  auto acting = make({.may_repeat_writes = [election = clients.election] {
    const kube::LeaderElection* const known = election->load();
    return known == nullptr || known->IsLeader();
  }});
  if (!acting) return Fail(acting.error());
  auto quick = make({.request_timeout = kReview, .most_tries = 1});
  if (!quick) return Fail(quick.error());
  clients.any = *std::move(any);
  clients.acting = *std::move(acting);
  clients.quick = *std::move(quick);
  return clients;
}

class RunningDaemon final : public Daemon {
 public:
  RunningDaemon(const config::ControllerConfig& config, Clients clients, const Clock& clock,
                Logger& log)
      : config_(config),
        clock_(clock),
        log_(log),
        client_(std::move(clients.any)),
        acting_client_(std::move(clients.acting)),
        quick_client_(std::move(clients.quick)),
        reader_(config.gpu_resource, {config.scheduler_name, config.tuner.hold}),
        pod_api_(kube::MakePodApi(*acting_client_, reader_)),
        profile_api_(kube::MakeProfileApi(*acting_client_)),
        metrics_(config.gpu_resource),
        profiles_(config.tolerance),
        fair_shares_(state_, clock, config.node_headroom, config.least_pool_per_gpu),
        view_(state_, profiles_, namespaces_, fair_shares_, [this] { return watches_.Complete(); }),
        gang_owners_(*quick_client_, state_, config.gpu_resource, clock, log, metrics_),
        webhook_(ToSettings(config), view_, gang_owners_, clock, log, metrics_),
        status_writer_(*profile_api_, profiles_, state_, clock, log, metrics_, config.node_headroom,
                       config.max_speed_up),
        events_(kube::EventRecorder::Start(*client_, clock, log, "synergy-controller",
                                           kube::InstanceName(), kQueuedEvents)),
        sizer_(ToSettings(config), view_, state_, *pod_api_, *events_, log),
        election_(StartElection()),
        stored_profiles_(profiles_),
        tuner_profiles_(profiles_),
        tuner_(ToTunerSettings(config), tuner_profiles_),
        tuner_actions_(state_, *pod_api_, *events_, clock, log, tuner_metrics_,
                       [this] { return MayTune(); }),
        tuner_hands_(MakeTunerHands(
            tuner_actions_, [this] { return MayTune(); }, [this] { tuning_.Wake(); }, clock,
            {.at_once = static_cast<size_t>(config.tuner.patches_at_once),
             .patches_per_second = config.tuner.patches_per_second})),
        tuner_driver_(tuner_, state_, *tuner_hands_, clock, tuner_metrics_),
        harm_watch_(
            state_, *pod_api_, *events_, [this] { return MayTune(); }, clock, log, tuner_metrics_,
            config.tuner.memory_watch),
        tuning_(
            tuner_driver_, [this] { return MayTune(); }, clock),
        agents_(clock, config.progress.interval),
        progress_answers_(progress_, clock),
        measurements_(profiles_),
        contradictions_(ToProfilerSettings(config), profiles_, *events_, log),
        profiler_(ToProfilerSettings(config), measurements_),
        profiling_actions_(state_, profiles_, *pod_api_, *profile_api_, log, profiling_metrics_,
                           [this] { return MayTune(); }),
        profiling_driver_(
            profiler_, state_, progress_, profiling_actions_, clock,
            [this](std::set<std::string> nodes) { agents_.WatchClosely(std::move(nodes)); }),
        adopter_(
            ToSettings(config), view_, profiles_, state_, *pod_api_, *events_,
            [this] { return MayTune(); }, log),
        keeper_(*profile_api_, profiles_, state_, clock, log, config.profiling.keep),
        profiling_(
            profiling_driver_, adopter_, keeper_, [this] { return MayTune(); }, clock),
        pod_store_(state_),
        node_store_(state_),
        range_store_(state_),
        quota_store_(state_),
        telling_pods_(pod_store_, *events_, [this] { return election_->IsLeader(); }),
        waking_pods_(telling_pods_, [this] { tuning_.Wake(); }),
        waking_nodes_(node_store_, [this] { tuning_.Wake(); }),
        watches_(*client_, reader_, config.staleness_limit, clock, log),
        round_api_(kube::MakeRoundApi(*acting_client_)),
        type_facts_(state_, profiles_,
                    [this](Gpus gpus, const std::string& product) {
                      return fair_shares_.Find({}, gpus, product);
                    }),
        rounds_driver_(
            round_objects_, *round_api_, *events_,
            [this](const std::string& uid) { return ProgressOf(uid); },
            [this](const std::string& profile_namespace, const std::string& name) {
              const auto profile = profiles_.Find(profile_namespace, name);
              return profile != nullptr && profile->object.checkpoints;
            },
            type_facts_, clock, log, round_metrics_),
        type_checks_(round_objects_, *round_api_, *events_, config.type_patience, clock, log,
                     round_metrics_),
        kueue_watches_(*client_, reader_, config.staleness_limit, clock, log),
        trainer_watches_(*client_, reader_, config.staleness_limit, clock, log),
        eviction_api_(kube::MakeEvictionApi(*acting_client_)),
        preemption_(
            ToPreemptionSettings(config), state_, *pod_api_, *eviction_api_, *events_,
            [this] { return MayTune(); }, clock, log, metrics_),
        budget_store_(state_),
        budget_watches_(*client_, reader_, config.staleness_limit, clock, log) {
    // All threads that write by `acting_client_` end before the election does.
    *clients.election = election_.get();
    tuner_driver_.Hold(tuner_profiles_);
    tuner_driver_.Watch(harm_watch_);
    profiling_driver_.Compare(contradictions_);
    status_writer_.Compare(contradictions_);
  }

  ~RunningDaemon() override { Stop(); }

  Result<> Start() {
    if (const Result<> made = MakeServers(); !made) return made;
    if (const Result<> started = StartRecording(); !started) return started;
    if (const Result<> made = MakePuller(); !made) return made;
    StartWatches();
    health_ = std::make_unique<kube::Health>(watches_.resources(), clock_, config_.staleness_limit);
    metrics_.SetGauges([this] { return ReadGauges(); });
    AddRoutes();
    refreshing_ = std::jthread([this](const std::stop_token& stop) {
      while (clock_.SleepFor(FairShareCache::kMostAge / 4, stop)) fair_shares_.Refresh();
    });
    status_writing_ = std::jthread([this](const std::stop_token& stop) {
      while (clock_.SleepFor(std::chrono::milliseconds(500), stop)) {
        if (watches_.Complete() && election_->IsLeader()) status_writer_.WriteIfDue(stop);
      }
    });
    sizing_ = std::jthread([this](const std::stop_token& stop) {
      while (clock_.SleepFor(kSizing, stop)) {
        if (watches_.Complete() && election_->IsLeader()) sizer_.SizeAll(profiles_.version());
      }
    });
    if (config_.tuner.enabled) tuning_.Start();
    if (puller_) puller_->Start();
    StartProfiling();
    if (config_.kueue_enabled) StartRounds();
    if (config_.gang_preemption.enabled) StartPreempting();
    if (const Result<> started = webhook_server_->Start(); !started) return started;
    if (const Result<> started = StartTellingProgress(); !started) return started;
    return http_server_->Start();
  }

  uint16_t webhook_port() const override { return webhook_server_->port(); }
  uint16_t http_port() const override { return http_server_->port(); }

  void Stop() override {
    if (std::exchange(stopped_, true)) return;
    if (health_) health_->ShutDown();
    if (webhook_server_) webhook_server_->Stop(config_.shutdown_grace);
    if (http_server_) http_server_->Stop(config_.shutdown_grace);
    progress_server_.reset();
    puller_.reset();
    profiling_.Stop();
    tuning_.Stop();
    tuner_hands_.reset();
    for (std::jthread* const thread :
         {&status_writing_, &refreshing_, &sizing_, &rounds_, &preempting_}) {
      thread->request_stop();
      if (thread->joinable()) thread->join();
    }
    kueue_watches_.Stop();
    trainer_watches_.Stop();
    budget_watches_.Stop();
    watches_.Stop();
  }

 private:
  Result<> MakeServers() {
    auto options = daemon::ListenOn(config_.listen, log_);
    if (!options) return Fail(options.error());
    options->certificate_file = config_.tls_certificate_file;
    options->key_file = config_.tls_key_file;
    options->client_ca_file = config_.webhook_client_ca_file;
    options->client_name = config_.webhook_client_name;
    options->max_body_bytes = static_cast<size_t>(config_.max_body_bytes);
    options->error_response = [this](const http::Request&, int status, std::string_view reason) {
      metrics_.CountBadInput(status == 413 ? "too_large" : "http");
      log_.Warn("bad request", {{"status", status}, {"reason", reason}});
      return daemon::Text(status, std::string(reason) + "\n");
    };
    options->on_failed_handshake = [this] { metrics_.CountBadInput("tls"); };
    auto webhook_server = http::Server::Create(*std::move(options));
    if (!webhook_server) return Fail(webhook_server.error());
    webhook_server_ = *std::move(webhook_server);

    auto plain = daemon::ListenOn(config_.http_listen, log_);
    if (!plain) return Fail(plain.error());
    plain->max_body_bytes = 1024;
    plain->self_signed = config_.metrics_authorization;
    auto http_server = http::Server::Create(*std::move(plain));
    if (!http_server) return Fail(http_server.error());
    http_server_ = *std::move(http_server);
    return {};
  }

  Result<> MakePuller() {
    if (!config_.progress.enabled) return {};
    const Result<PullSettings> settings = ToPullSettings(config_);
    if (!settings) return Fail(settings.error());
    auto puller =
        ProgressPuller::Create(agents_, progress_, state_, metrics_, clock_, log_, *settings);
    if (!puller) return Fail(puller.error());
    puller_ = *std::move(puller);
    return {};
  }

  Result<> StartTellingProgress() {
    if (!config_.progress.enabled || config_.progress.listen.empty()) return {};
    auto server = ProgressServer::Start(config_, progress_answers_, *client_, clock_, log_);
    if (!server) return Fail(server.error());
    progress_server_ = *std::move(server);
    return {};
  }

  void StartProfiling() {
    if (config_.profiling.On(config_.progress)) return profiling_.Start();
    if (config_.profiling.enabled)
      log_.Info("no profiling, because progress is not enabled, and that is what it measures by");
  }

  Result<> StartRecording() {
    if (config_.record_file.empty()) return {};
    auto recorder = record::Recorder::Open(config_.record_file, config_.record_limit,
                                           "synergy-controller", log_);
    if (!recorder) return Fail(recorder.error());
    recorder_ = *std::move(recorder);
    state_.SetJournal(recorder_.get());
    tuner_driver_.SetJournal(*recorder_);
    return {};
  }

  void StartWatches() {
    watches_.Start("nodes", "/api/v1/nodes", waking_nodes_);
    watches_.Start("pods", "/api/v1/pods", waking_pods_, kube::kLivingPods);
    watches_.Start("namespaces", "/api/v1/namespaces", namespaces_);
    watches_.Start("limitranges", "/api/v1/limitranges", range_store_);
    watches_.Start("resourcequotas", "/api/v1/resourcequotas", quota_store_);
    watches_.Start("trainingprofiles", std::string(kube::kTrainingProfilesPath), profiles_);
    if (puller_) {
      watches_.Start("agents", fmt::format("/api/v1/namespaces/{}/pods", config_.own_namespace),
                     agents_, kube::kLivingPods, config_.progress.agents);
    }
  }

  // Watches of their own: where Kueue is not there, or not well, all the rest goes on; and so do
  // its queues where Kubeflow Trainer is not.
  void StartRounds() {
    const auto of_kueue = [](const char* plural) { return std::string(kube::kKueuePath) + plural; };
    RoundObjects& objects = round_objects_;
    kueue_watches_.Start("roundpolicies", std::string(kube::kRoundPoliciesPath), objects.policies);
    kueue_watches_.Start("workloads", of_kueue("workloads"), objects.workloads);
    kueue_watches_.Start("clusterqueues", of_kueue("clusterqueues"), objects.cluster_queues);
    kueue_watches_.Start("localqueues", of_kueue("localqueues"), objects.local_queues);
    kueue_watches_.Start("resourceflavors", of_kueue("resourceflavors"), objects.flavors);
    kueue_watches_.Start("admissionchecks", of_kueue("admissionchecks"), objects.checks);
    kueue_watches_.Start("cohorts", of_kueue("cohorts"), objects.cohorts);
    kueue_watches_.Start("queuedpods", "/api/v1/pods", objects.pods, kube::kLivingPods,
                         std::string(wire::kPodSetLabel));
    objects.elastic = config_.kueue_elastic;
    if (objects.elastic) {
      kueue_watches_.Start("jobs", std::string(kube::kJobsPath), objects.jobs, {},
                           std::string(wire::kQueueLabel));
    }
    if (config_.kueue_train_job_progress) {
      trainer_watches_.Start("trainjobs", std::string(kube::kTrainJobsPath), objects.train_jobs, {},
                             std::string(wire::kQueueLabel));
    }
    rounds_ = std::jthread([this](const std::stop_token& stop) {
      bool acted = false;
      Instant decided{};
      while (clock_.SleepFor(kRounds, stop)) {
        const bool current = kueue_watches_.Current();
        round_objects_.knows_train_jobs = trainer_watches_.Current();
        const bool acts = MayTune() && current;
        if (acts && !acted) rounds_driver_.StartOver();
        // Who leads has them.
        if (acted && !acts) round_metrics_.SetWorkloads({});
        acted = acts;
        if (acts) {
          rounds_driver_.Step(stop);
          decided = clock_.Now();
        } else if (!election_->IsLeader()) {
          decided = std::max(decided, election_->LedLast());
        }
        // Every replica answers: a check that nobody answers stops the queue.
        if (current) type_checks_.Step(acts ? &rounds_driver_.turns() : nullptr, decided, stop);
      }
    });
  }

  // A watch of its own: where nobody may see the budgets, nobody is evicted, and all the rest goes
  // on.
  void StartPreempting() {
    budget_watches_.Start("poddisruptionbudgets", "/apis/policy/v1/poddisruptionbudgets",
                          budget_store_);
    preempting_ = std::jthread([this](const std::stop_token& stop) {
      bool acted = false;
      while (clock_.SleepFor(kPreempting, stop)) {
        const bool acts = MayTune() && watches_.Complete() && budget_watches_.Current();
        if (acts && !acted) preemption_.StartOver();
        acted = acts;
        if (acts) preemption_.Step(stop);
      }
    });
  }

  std::optional<PodProgress> ProgressOf(const std::string& uid) const {
    auto known = progress_.Of(uid, clock_.Now());
    if (!known) return std::nullopt;
    return std::move(known->pod);
  }

  void AddRoutes() {
    webhook_server_->Handle("POST", "/mutate-pod", [this](const http::Request& request) {
      return webhook_.ReviewPod(request);
    });
    webhook_server_->Handle(
        "POST", "/validate-trainingprofile",
        [this](const http::Request& request) { return webhook_.ReviewProfile(request); });
    daemon::Probes probes;
    probes.not_ready = [this] { return health_->NotReadyReason(); };
    probes.metrics = [this] { return RenderMetrics(); };
    if (config_.metrics_authorization)
      probes.refuse_metrics = kube::GuardMetrics(*client_, clock_, log_);
    daemon::AddProbes(*http_server_, std::move(probes));
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
  bool MayTune() {
    const bool leads = election_->IsLeader();
    tuner_metrics_.SetLeader(leads);
    if (!leads || !health_->NotReadyReason().empty()) return false;
    const auto expiry = webhook_server_->CertificateExpiry();
    return !expiry || *expiry > clock_.WallNow();
  }

  std::string RenderMetrics() {
    const ProfileStore::Counts profiles = profiles_.counts();
    profiling_metrics_.SetMeasurements(profiles.confirmed, profiles.estimated, profiles.drifted);
    return metrics_.Render() + tuner_metrics_.Render() + profiling_metrics_.Render() +
           round_metrics_.Render();
  }

  metrics::ControllerGauges ReadGauges() const {
    metrics::ControllerGauges gauges;
    const auto snapshot = state_.Snapshot();
    uint64_t nodes = 0;
    for (NodeIndex index = 0; index < snapshot->size(); ++index)
      nodes += snapshot->node(index).exists ? 1 : 0;
    const ProfileStore::Counts profiles = profiles_.counts();
    const Instant now = clock_.Now();
    const std::map<std::string, uint64_t> objects = {
        {"nodes", nodes},
        {"pods", state_.known_pods()},
        {"namespaces", namespaces_.size()},
        {"limitranges", snapshot->limits().ranges()},
        {"resourcequotas", snapshot->limits().quotas()},
        {"trainingprofiles", profiles.valid + profiles.invalid},
        {"agents", agents_.size()}};
    for (const kube::WatchedResource& resource : watches_.resources()) {
      gauges.caches.push_back(
          ToGauge(resource.name, resource.status(), objects.at(resource.name), now));
    }
    gauges.pods = ReadPodGauges(*snapshot, stored_profiles_, config_.max_speed_up);
    gauges.devices = ReadDeviceGauges(*snapshot);
    for (const auto& pod : state_.WaitingPods())
      ++gauges.waiting_pods[std::string(WaitingReason(*pod, config_.gpu_resource))];
    gauges.valid_profiles = profiles.valid;
    gauges.invalid_profiles = profiles.invalid;
    gauges.certificate_expiry = webhook_server_->CertificateExpiry();
    const ProgressBook::Extent progress = progress_.extent(now);
    gauges.progress_pods = progress.pods;
    gauges.oldest_progress = progress.oldest;
    gauges.ready = health_->NotReadyReason().empty();
    return gauges;
  }

  const config::ControllerConfig config_;
  const Clock& clock_;
  Logger& log_;
  std::unique_ptr<kube::ApiClient> client_;
  std::unique_ptr<kube::ApiClient> acting_client_;
  std::unique_ptr<kube::ApiClient> quick_client_;
  std::unique_ptr<http::Server> webhook_server_;
  std::unique_ptr<http::Server> http_server_;
  const wire::ObjectReader reader_;
  std::unique_ptr<kube::PodApi> pod_api_;
  std::unique_ptr<kube::ProfileApi> profile_api_;
  metrics::ControllerMetrics metrics_;
  std::unique_ptr<record::Recorder> recorder_;  // none without recordFile
  ClusterState state_;
  ProfileStore profiles_;
  NamespaceStore namespaces_;
  FairShareCache fair_shares_;
  ClusterView view_;
  GangOwners gang_owners_;
  Webhook webhook_;
  StatusWriter status_writer_;
  metrics::TunerMetrics tuner_metrics_;
  std::unique_ptr<kube::EventRecorder> events_;
  PodSizer sizer_;
  std::unique_ptr<kube::LeaderElection> election_;
  StoredProfiles stored_profiles_;
  TunerProfiles tuner_profiles_;
  Tuner tuner_;
  TunerActions tuner_actions_;
  std::unique_ptr<TunerHands> tuner_hands_;
  TunerDriver tuner_driver_;
  MemoryHarmWatch harm_watch_;
  Tuning tuning_;
  AgentDirectory agents_;
  ProgressBook progress_;
  ProgressAnswers progress_answers_;
  metrics::ProfilingMetrics profiling_metrics_;
  StoredMeasurements measurements_;
  ContradictionWatch contradictions_;
  Profiler profiler_;
  ProfilingActions profiling_actions_;
  ProfilingDriver profiling_driver_;
  PodAdopter adopter_;
  MeasuredKeeper keeper_;
  Profiling profiling_;
  kube::PodStore pod_store_;
  kube::NodeStore node_store_;
  kube::LimitRangeStore range_store_;
  kube::ResourceQuotaStore quota_store_;
  WarningTeller telling_pods_;
  WakingStore<Pod> waking_pods_;
  WakingStore<Node> waking_nodes_;
  std::unique_ptr<ProgressPuller> puller_;           // none without progress.enabled
  std::unique_ptr<ProgressServer> progress_server_;  // none without progress.listen
  kube::Watches watches_;
  RoundObjects round_objects_;
  std::unique_ptr<kube::RoundApi> round_api_;
  metrics::RoundMetrics round_metrics_;
  TypeFacts type_facts_;
  RoundsDriver rounds_driver_;
  TypeChecks type_checks_;
  kube::Watches kueue_watches_;
  kube::Watches trainer_watches_;
  std::unique_ptr<kube::EvictionApi> eviction_api_;
  GangPreemption preemption_;
  kube::DisruptionBudgetStore budget_store_;
  kube::Watches budget_watches_;
  std::unique_ptr<kube::Health> health_;
  std::jthread refreshing_;
  std::jthread status_writing_;
  std::jthread sizing_;
  std::jthread rounds_;
  std::jthread preempting_;
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

Result<std::unique_ptr<Daemon>> Daemon::Start(const config::ControllerConfig& config,
                                              const config::ClusterAccess& access,
                                              const Clock& clock, Logger& log) {
  Result<Clients> clients = MakeClients(access);
  if (!clients) return Fail(clients.error());
  config::ControllerConfig complete = config;
  complete.own_namespace = OwnNamespace(config, access);
  auto daemon = std::make_unique<RunningDaemon>(complete, *std::move(clients), clock, log);
  if (const Result<> started = daemon->Start(); !started) return Fail(started.error());
  log.Info("serving", {{"webhook", config.listen},
                       {"port", daemon->webhook_port()},
                       {"http", config.http_listen},
                       {"http_port", daemon->http_port()},
                       {"api_server", access.server},
                       {"version", Version()},
                       {"commit", Commit()}});
  return daemon;
}

}  // namespace synergy::controller
