#include "controller/daemon.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>

#include "cluster/state/pod_acts.h"
#include "config/text_file.h"
#include "controller/admission/admission_unit.h"
#include "controller/admission/certificate_unit.h"
#include "controller/cluster/api_clients.h"
#include "controller/cluster/leader_loop.h"
#include "controller/cluster/leadership.h"
#include "controller/cluster/pod_gauges.h"
#include "controller/cluster/watched_cluster.h"
#include "controller/preemption/moves_unit.h"
#include "controller/preemption/preemption_unit.h"
#include "controller/preemption/reservations_unit.h"
#include "controller/profiles/profiles_unit.h"
#include "controller/profiling/profiling_unit.h"
#include "controller/progress/failures/failures_unit.h"
#include "controller/progress/progress_unit.h"
#include "controller/queues/preruns_unit.h"
#include "controller/queues/queues_unit.h"
#include "controller/tuner/tuner_unit.h"
#include "controller/tuner/turns/turns_unit.h"
#include "core/version.h"
#include "daemon/probes.h"
#include "http/server/server.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "kube/apis/profile_api.h"
#include "kube/apis/storage_api.h"
#include "kube/token_gate.h"
#include "metrics/controller_metrics.h"
#include "metrics/profiling_metrics.h"
#include "metrics/round_metrics.h"
#include "metrics/tuner_metrics.h"
#include "metrics/turn_metrics.h"
#include "record/recorder.h"
#include "wire/objects/objects.h"

namespace synergy::controller {
namespace {

// Room for the events of a round in which a large cluster is divided again; takes a few MB.
constexpr size_t kQueuedEvents = 20000;

struct AllMetrics {
  explicit AllMetrics(const std::string& gpu_resource) : controller(gpu_resource) {}

  metrics::ControllerMetrics controller;
  metrics::TunerMetrics tuner;
  metrics::ProfilingMetrics profiling;
  metrics::RoundMetrics rounds;
  metrics::TurnMetrics turns;
};

// The parts that fail on a wrong setting (a file, an address). They are created before any thread
// starts.
struct Opened {
  ApiClients clients;
  std::unique_ptr<AllMetrics> metrics;
  std::unique_ptr<CertificateUnit> certificate;  // before the servers, which read its files
  std::unique_ptr<http::Server> webhook_server;
  std::unique_ptr<http::Server> http_server;
  std::unique_ptr<record::Recorder> recorder;  // null without recordFile
};

Result<std::unique_ptr<http::Server>> MakeHttpServer(const config::ControllerConfig& config,
                                                     Logger& log) {
  auto options = daemon::ListenOn(config.http_listen, log);
  if (!options) return Fail(options.error());
  options->max_body_bytes = 1024;
  options->self_signed = config.metrics_authorization;
  return http::Server::Create(*std::move(options));
}

Result<std::unique_ptr<record::Recorder>> OpenRecorder(const config::ControllerConfig& config,
                                                       Logger& log) {
  if (config.record_file.empty()) return nullptr;
  return record::Recorder::Open(config.record_file, config.record_limit, "synergy-controller", log);
}

Result<Opened> Open(const config::ControllerConfig& config, const config::ClusterAccess& access,
                    const Clock& clock, Logger& log) {
  Opened opened;
  auto clients = MakeApiClients(access);
  if (!clients) return Fail(clients.error());
  opened.clients = *std::move(clients);
  opened.metrics = std::make_unique<AllMetrics>(config.gpu_resource);
  auto certificate = CertificateUnit::Open(config, *opened.clients.any, clock, log);
  if (!certificate) return Fail(certificate.error());
  opened.certificate = *std::move(certificate);
  auto webhook_server = MakeWebhookServer(config, opened.metrics->controller, log);
  if (!webhook_server) return Fail(webhook_server.error());
  opened.webhook_server = *std::move(webhook_server);
  auto http_server = MakeHttpServer(config, log);
  if (!http_server) return Fail(http_server.error());
  opened.http_server = *std::move(http_server);
  auto recorder = OpenRecorder(config, log);
  if (!recorder) return Fail(recorder.error());
  opened.recorder = *std::move(recorder);
  return opened;
}

class RunningDaemon final : public Daemon {
 public:
  RunningDaemon(const config::ControllerConfig& config, Opened opened, const Clock& clock,
                Logger& log)
      : config_(config),
        clock_(clock),
        log_(log),
        opened_(std::move(opened)),
        reader_(config.gpu_resource, {config.scheduler_name, config.tuner.hold},
                config.dra_enabled),
        pod_api_(kube::MakePodApi(*opened_.clients.acting, reader_)),
        profile_api_(kube::MakeProfileApi(*opened_.clients.acting)),
        storage_api_(kube::MakeStorageApi(*opened_.clients.any, *opened_.clients.acting,
                                          config_.own_namespace)),
        cluster_(config_, *opened_.clients.any, reader_, opened_.recorder.get(), clock, log),
        events_(kube::EventRecorder::Start(*opened_.clients.any, clock, log, "synergy-controller",
                                           kube::InstanceName(), kQueuedEvents)),
        leadership_(config_, opened_.clients, cluster_, *opened_.webhook_server, clock, log,
                    opened_.metrics->tuner),
        admission_(config_, cluster_, *opened_.clients.quick, *pod_api_, *events_, leadership_,
                   *opened_.webhook_server, clock, log, opened_.metrics->controller),
        profiles_(config_, cluster_, *profile_api_, *events_, leadership_, clock, log,
                  opened_.metrics->controller),
        progress_(config_, cluster_.state(), *opened_.clients.any, clock, log,
                  opened_.metrics->controller),
        tuner_(config_, cluster_, progress_, admission_.pods(), *pod_api_, *storage_api_, *events_,
               leadership_, opened_.recorder.get(), clock, log, opened_.metrics->tuner),
        profiling_(config_, admission_.settings(), cluster_, progress_, profiles_.mismatch(),
                   *pod_api_, *profile_api_, *events_, leadership_, clock, log,
                   opened_.metrics->profiling),
        turns_(config_, cluster_, progress_, *pod_api_, *profile_api_, *events_, leadership_, clock,
               log, opened_.metrics->turns),
        queues_(config_, opened_.clients, reader_, cluster_, progress_.store(), *events_,
                leadership_, opened_.recorder.get(), clock, log, opened_.metrics->rounds),
        preemption_(config_, opened_.clients, reader_, cluster_, *pod_api_, *events_, acts_,
                    leadership_, clock, log, opened_.metrics->controller),
        moves_(
            config_, opened_.clients, reader_, cluster_,
            [this](const std::string& uid, Instant now) { return progress_.store().Of(uid, now); },
            preemption_, *pod_api_, *events_, acts_, leadership_, clock, log,
            opened_.metrics->controller),
        reservations_(
            config_, opened_.clients, reader_, cluster_,
            [this](const std::string& uid, Instant now) { return progress_.store().Of(uid, now); },
            [this](std::vector<GpuReservation> all) { tuner_.SetReservations(std::move(all)); },
            *pod_api_, *events_, leadership_, clock, log),
        failures_(
            config_, *opened_.clients.any, *opened_.clients.acting, reader_,
            FailureSources{progress_.failures(), cluster_.state(), acts_,
                           [this](const std::string& name) { return cluster_.HasNamespace(name); }},
            MemoryRaiser(cluster_.profiles(), *profile_api_, cluster_.state()), *events_,
            [this] { return leadership_.MayAct(); }, clock, log, opened_.metrics->controller),
        preruns_(
            config_, opened_.clients, reader_, *events_, [this] { return leadership_.MayAct(); },
            clock, log, opened_.metrics->controller),
        reporting_failures_(
            {.may_act = [this] { return leadership_.MayAct() && cluster_.Complete(); },
             .start_over =
                 [this] {
                   failures_.StartOver();
                   preruns_.StartOver();
                 },
             .step =
                 [this](const std::stop_token& stop) {
                   failures_.Look(true, stop);
                   if (const auto* const records = failures_.histories())
                     preruns_.Step(*records, stop);
                 },
             .every_look =
                 [this](bool acts, const std::stop_token& stop) {
                   if (!acts) failures_.Look(false, stop);
                 }},
            FailuresUnit::kLook, clock) {}

  ~RunningDaemon() override { Stop(); }

  Result<> Start() {
    if (const Result<> opened = progress_.Open(); !opened) return opened;
    // Start the watches first, because all other parts check whether they are complete or ready.
    cluster_.Start(tuner_.nodes(), tuner_.pods(), progress_.agents());
    opened_.metrics->controller.SetGauges([this] { return ReadGauges(); });
    const daemon::Probes probes = MakeProbes();
    daemon::AddProbes(*opened_.http_server, probes);
    opened_.certificate->Start();
    profiles_.Start();
    admission_.Start();
    tuner_.Start();
    progress_.Start();
    profiling_.Start();
    turns_.Start();
    queues_.Start();
    preemption_.Start();
    moves_.Start();
    reservations_.Start();
    failures_.Start();
    preruns_.Start();
    reporting_failures_.Start();
    // Start the servers last, and the probes' server after the others, because a replica that
    // reports ready must already answer reviews.
    if (const Result<> started = opened_.webhook_server->Start(); !started) return started;
    if (const Result<> started = progress_.Serve(); !started) return started;
    auto probe_server = daemon::ServeProbes(config_.probe_socket, probes, log_);
    if (!probe_server) return Fail(probe_server.error());
    probe_server_ = *std::move(probe_server);
    return opened_.http_server->Start();
  }

  uint16_t webhook_port() const override { return opened_.webhook_server->port(); }
  uint16_t http_port() const override { return opened_.http_server->port(); }

  void Stop() override {
    if (std::exchange(stopped_, true)) return;
    // Become not ready first, so that no new requests arrive and no new action begins
    // (Leadership::MayAct()); then let the requests in progress finish.
    cluster_.ShutDown();
    opened_.webhook_server->Stop(config_.shutdown_grace);
    opened_.http_server->Stop(config_.shutdown_grace);
    probe_server_.reset();
    progress_.Stop();
    // Then stop the threads that write, while the watches that they need still run. These threads
    // check the election before each write, so it ends after them: `leadership_` is declared above.
    profiling_.Stop();
    turns_.Stop();
    tuner_.Stop();
    profiles_.Stop();
    admission_.Stop();
    queues_.Stop();
    moves_.Stop();
    preemption_.Stop();
    reservations_.Stop();
    reporting_failures_.Stop();
    failures_.Stop();
    preruns_.Stop();
    opened_.certificate->Stop();
    // Stop the watches last, because they feed stores of the units.
    cluster_.Stop();
  }

 private:
  daemon::Probes MakeProbes() {
    daemon::Probes probes;
    probes.not_ready = [this] {
      const std::string reason = opened_.certificate->NotReadyReason();
      return reason.empty() ? cluster_.NotReadyReason() : reason;
    };
    probes.metrics = [this] { return RenderMetrics(); };
    if (config_.metrics_authorization)
      probes.refuse_metrics = kube::GuardMetrics(*opened_.clients.any, clock_, log_);
    return probes;
  }

  std::string RenderMetrics() {
    AllMetrics& all = *opened_.metrics;
    const ProfileStore::Counts profiles = cluster_.profiles().counts();
    all.profiling.SetMeasurements(profiles.confirmed, profiles.estimated, profiles.drifted);
    return all.controller.Render() + all.tuner.Render() + all.profiling.Render() +
           all.rounds.Render() + all.turns.Render();
  }

  metrics::ControllerGauges ReadGauges() {
    metrics::ControllerGauges gauges;
    cluster_.AddGauges(gauges, progress_.agents().size());
    gauges.certificate_expiry = opened_.webhook_server->CertificateExpiry();
    const ProgressStore::Extent progress = progress_.store().extent(clock_.Now());
    gauges.progress_pods = progress.pods;
    gauges.oldest_progress = progress.oldest;
    gauges.idle_gpus =
        ReadIdleGpus(*cluster_.state().Snapshot(), progress_.store().Read({}, clock_.Now()));
    return gauges;
  }

  // Each member uses only members above it: they are created in this order and destroyed in
  // reverse.
  const config::ControllerConfig config_;
  const Clock& clock_;
  Logger& log_;
  const Opened opened_;
  const wire::ObjectReader reader_;
  const std::unique_ptr<kube::PodApi> pod_api_;
  const std::unique_ptr<kube::ProfileApi> profile_api_;
  const std::unique_ptr<kube::StorageApi> storage_api_;
  WatchedCluster cluster_;
  const std::unique_ptr<kube::EventRecorder> events_;
  const Leadership leadership_;
  AdmissionUnit admission_;
  ProfilesUnit profiles_;
  ProgressUnit progress_;
  TunerUnit tuner_;
  ProfilingUnit profiling_;
  TurnsUnit turns_;
  QueuesUnit queues_;
  PodActs acts_;
  PreemptionUnit preemption_;
  MovesUnit moves_;
  ReservationsUnit reservations_;
  FailuresUnit failures_;
  PrerunsUnit preruns_;
  LeaderLoop reporting_failures_;
  std::unique_ptr<http::Server> probe_server_;  // null without --probe-socket
  bool stopped_ = false;
};

// Inside a pod, the folder of the service account's token also contains the namespace.
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
  config::ControllerConfig complete = config;
  complete.own_namespace = OwnNamespace(config, access);
  Result<Opened> opened = Open(complete, access, clock, log);
  if (!opened) return Fail(opened.error());
  auto daemon = std::make_unique<RunningDaemon>(complete, *std::move(opened), clock, log);
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
