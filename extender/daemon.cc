#include "extender/daemon.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "allocation/best_fit.h"
#include "cluster/state/cluster_state.h"
#include "core/version.h"
#include "daemon/probes.h"
#include "extender/binding/allocations.h"
#include "extender/binding/binder.h"
#include "extender/gangs/lost_members.h"
#include "extender/gauges.h"
#include "extender/nodes/elsewhere.h"
#include "extender/nodes/ended_pods.h"
#include "extender/nodes/node_storage.h"
#include "extender/scheduler_extender.h"
#include "extender/shadow.h"
#include "http/server/server.h"
#include "kube/api_client.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "kube/cluster_store.h"
#include "kube/device_watches.h"
#include "kube/listing.h"
#include "kube/token_gate.h"
#include "kube/watches.h"
#include "metrics/extender_metrics.h"
#include "record/recorder.h"
#include "wire/agents/failures.h"
#include "wire/agents/placement_storage.h"
#include "wire/extender/extender_messages.h"
#include "wire/journal/cluster_dump.h"
#include "wire/objects/objects.h"

namespace synergy::extender {
namespace {

using metrics::Verb;

// How long a filter call waits for a late watch: much longer than the usual lag between two
// watches, but short for a pod that waits anyway.
constexpr auto kWatchCatchUp = std::chrono::milliseconds(50);
// How long a pod is answered with errors, so that kube-scheduler retries it, while a watch is late.
constexpr auto kLongestLate = std::chrono::seconds(15);

// kube-scheduler drops the reason for any status except 200, so on the verbs' paths the server's
// own refusals are also 200 answers.
http::Response AnswerServerError(const http::Request& request, int status,
                                 std::string_view reason) {
  for (const Verb verb : metrics::kVerbs) {
    if (request.path.substr(1) == ToString(verb))
      return {200, "application/json", wire::WriteError(reason)};
  }
  return daemon::Text(status, std::string(reason) + "\n");
}

// Returns the server of httpListen; null if it is not set.
Result<std::unique_ptr<http::Server>> ServeProbes(const config::ExtenderConfig& config,
                                                  Logger& log) {
  if (config.http_listen.empty()) return nullptr;
  auto options = daemon::ListenOn(config.http_listen, log);
  if (!options) return Fail(options.error());
  options->self_signed = config.metrics_authorization;
  return http::Server::Create(*std::move(options));
}

ReserveRule ReserveOf(const config::ExtenderConfig& config) {
  return {.per_gpu = config.reserve_per_gpu, .headroom = config.node_headroom};
}

double SlackOf(const config::ExtenderConfig& config) {
  return static_cast<double>(config.preference_percent) / 100;
}

GangTimes GangTimesOf(const config::ExtenderConfig& config) {
  GangTimes times{.hold = config.gang_hold};
  // A member waits for its gang during the first part of a bind; the rest is for the bind itself.
  times.wait =
      config.bind_timeout - std::min<Duration>(std::chrono::seconds(1), config.bind_timeout / 2);
  return times;
}

LocalityRules LocalityOf(const config::ExtenderConfig& config) {
  const config::ExtenderConfig::Locality& locality = config.locality;
  return {.node_wait = locality.node_wait,
          .rack_wait = locality.rack_wait,
          .rack_label = locality.rack_label,
          .least_speed = locality.least_speed,
          .most_skew = locality.most_skew};
}

class RunningDaemon final : public Daemon {
 public:
  RunningDaemon(const config::ExtenderConfig& config, std::unique_ptr<kube::ApiClient> client,
                std::unique_ptr<http::Server> server, std::unique_ptr<http::Server> http_server,
                const Clock& clock, Logger& log)
      : config_(config),
        clock_(clock),
        log_(log),
        client_(std::move(client)),
        server_(std::move(server)),
        http_server_(std::move(http_server)),
        reader_(config.gpu_resource, {config.scheduler_name, config.hold}, config.dra_enabled),
        pod_api_(kube::MakePodApi(*client_, reader_)),
        metrics_(config.gpu_resource),
        events_(kube::EventRecorder::Start(*client_, clock, log, "synergy-extender",
                                           kube::InstanceName())),
        allocations_(*pod_api_, *events_, clock, log, metrics_, ReserveOf(config)),
        binder_(state_, *pod_api_, config.gpu_resource, allocations_, clock, log, metrics_,
                {config.bind_timeout, config.assume_timeout}),
        extender_(state_, binder_, reader_,
                  {ReserveOf(config), SlackOf(config), config.expect_timeout, config.shadow,
                   GangTimesOf(config), LocalityOf(config)},
                  clock, log, metrics_,
                  {[this] { return watches_.Current(); },
                   [this] { clock_.SleepFor(kWatchCatchUp, {}); }, kLongestLate}),
        lost_members_(state_, *pod_api_, *events_, clock, log, metrics_),
        pod_store_(state_, *pod_api_, clock),
        shadow_(state_, ReserveOf(config), SlackOf(config), log, metrics_,
                [this] { return all_started_ && watches_.Current(); }),
        node_store_(state_),
        budget_store_(state_),
        quota_store_(state_),
        reserved_(state_, clock),
        elsewhere_(state_, clock),
        devices_(state_, *client_, log),
        watches_(*client_, reader_, config.staleness_limit, clock, log),
        optional_watches_(*client_, reader_, config.staleness_limit, clock, log) {}

  ~RunningDaemon() override { Stop(); }

  Result<> Start() {
    if (const Result<> started = StartRecording(); !started) return started;
    // A program that binds nothing must not hold places, either.
    if (!config_.shadow) state_.ReserveForReplacements(config_.replacement_hold, clock_.Now());
    if (config_.reservations_enabled && !config_.shadow) {
      optional_watches_.Start(
          "waiting_pods", "/api/v1/pods", reserved_,
          fmt::format("spec.schedulerName={},spec.nodeName=", config_.scheduler_name));
      extender_.SetReserved(&reserved_);
    }
    if (!config_.elsewhere_namespace.empty() && !config_.shadow) {
      optional_watches_.Start("avoided_nodes",
                              fmt::format("/api/v1/namespaces/{}/configmaps",
                                          kube::Escape(config_.elsewhere_namespace)),
                              elsewhere_, fmt::format("metadata.name={}", wire::kAvoidedNodesName));
      extender_.SetElsewhere(&elsewhere_);
    }
    if (!config_.storage_namespace.empty() && !config_.shadow) {
      optional_watches_.Start(
          "storage",
          fmt::format("/api/v1/namespaces/{}/configmaps", kube::Escape(config_.storage_namespace)),
          storage_, fmt::format("metadata.name={}", wire::kStorageName));
      extender_.SetStorage(&storage_);
    }
    extender_.SetCountSucceeded(kube::AskForSucceeded(*client_, reader_, state_, clock_, log_));
    if (config_.dra_enabled)
      devices_.Start(watches_, {config_.gpu_resource, config_.device_classes});
    watches_.Start("nodes", "/api/v1/nodes", node_store_);
    kube::ObjectStore<Pod>& pods =
        config_.shadow ? static_cast<kube::ObjectStore<Pod>&>(shadow_) : pod_store_;
    watches_.Start("pods", "/api/v1/pods", pods, kube::kLivingPods);
    watches_.Start("poddisruptionbudgets", "/apis/policy/v1/poddisruptionbudgets", budget_store_);
    watches_.Start("resourcequotas", "/api/v1/resourcequotas", quota_store_);
    all_started_ = true;
    health_ = std::make_unique<kube::Health>(watches_.resources(), clock_, config_.staleness_limit);
    metrics_.SetClusterGauges([this] {
      metrics::ClusterGauges gauges =
          ReadGauges(state_, config_.gpu_resource, ages_, ReserveOf(config_), watches_.resources(),
                     *health_, clock_);
      gauges.waiting_connections = server_->waiting_connections();
      const GangCounts gangs = extender_.gangs().Count();
      gauges.gangs_held = gangs.held;
      gauges.gangs_waiting = gangs.waiting;
      gauges.oldest_held_gang = gangs.oldest_held;
      gauges.waiting_binds = gangs.waiting_binds;
      gauges.gangs_waiting_for_locality = gangs.waiting_for_locality;
      gauges.gangs_placed = gangs.placed;
      gauges.gpu_reservations = reserved_.count();
      if (const auto known = storage_.Known())
        gauges.nodes_with_storage = known->storage().bandwidths.size();
      gauges.vacant_places = state_.Reservations(ReservationKind::kReplacement).size();
      return gauges;
    });
    AddRoutes();
    const daemon::Probes probes = MakeProbes();
    daemon::AddProbes(*server_, probes);
    if (http_server_) daemon::AddProbes(*http_server_, probes);
    settling_ = std::jthread([this](const std::stop_token& stop) {
      while (clock_.SleepFor(std::chrono::seconds(1), stop)) {
        binder_.SettleExpired();
        ages_.Look(state_, clock_.Now());
        extender_.Look();
        lost_members_.Look();
        pod_store_.Look();
      }
    });
    if (http_server_) {
      if (const Result<> started = http_server_->Start(); !started) return started;
    }
    auto probe_server = daemon::ServeProbes(config_.probe_socket, probes, log_);
    if (!probe_server) return Fail(probe_server.error());
    probe_server_ = *std::move(probe_server);
    return server_->Start();
  }

  uint16_t port() const override { return server_->port(); }
  uint16_t http_port() const override { return http_server_ ? http_server_->port() : 0; }

  void Stop() override {
    if (std::exchange(stopped_, true)) return;
    if (health_) health_->ShutDown();
    extender_.gangs().Stop();
    server_->Stop(config_.shutdown_grace);
    if (http_server_) http_server_->Stop(config_.shutdown_grace);
    probe_server_.reset();
    settling_.request_stop();
    if (settling_.joinable()) settling_.join();
    optional_watches_.Stop();
    watches_.Stop();
  }

 private:
  Result<> StartRecording() {
    if (config_.record_file.empty()) return {};
    auto recorder =
        record::Recorder::Open(config_.record_file, config_.record_limit, "synergy-extender", log_);
    if (!recorder) return Fail(recorder.error());
    recorder_ = *std::move(recorder);
    state_.SetJournal(recorder_.get());
    binder_.SetJournal(recorder_.get());
    extender_.SetJournal(recorder_.get());
    return {};
  }

  void AddRoutes() {
    AddVerb(Verb::kFilter, [this](std::string_view body) { return extender_.Filter(body); });
    AddVerb(Verb::kPrioritize,
            [this](std::string_view body) { return extender_.Prioritize(body); });
    AddVerb(Verb::kBind, [this](std::string_view body) { return extender_.Bind(body); });
    AddVerb(Verb::kPreempt, [this](std::string_view body) { return extender_.Preempt(body); });
    server_->Handle("GET", "/debug/state", [this](const http::Request&) {
      return http::Response{200, "application/json",
                            wire::WriteSnapshot(*state_.Snapshot(), config_.gpu_resource)};
    });
  }

  daemon::Probes MakeProbes() {
    daemon::Probes probes;
    probes.not_ready = [this] { return health_->NotReadyReason(); };
    probes.metrics = [this] { return metrics_.Render(); };
    if (config_.metrics_authorization)
      probes.refuse_metrics = kube::GuardMetrics(*client_, clock_, log_);
    return probes;
  }

  template <class Answer>
  void AddVerb(Verb verb, Answer answer) {
    server_->Handle("POST", fmt::format("/{}", ToString(verb)),
                    [answer](const http::Request& request) {
                      return http::Response{200, "application/json", answer(request.body)};
                    });
  }

  const config::ExtenderConfig config_;
  const Clock& clock_;
  Logger& log_;
  std::unique_ptr<kube::ApiClient> client_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<http::Server> http_server_;   // null without httpListen
  std::unique_ptr<http::Server> probe_server_;  // null without --probe-socket
  const wire::ObjectReader reader_;
  std::unique_ptr<kube::PodApi> pod_api_;
  metrics::ExtenderMetrics metrics_;
  std::unique_ptr<record::Recorder> recorder_;  // null without recordFile
  ClusterState state_;
  std::unique_ptr<kube::EventRecorder> events_;
  Allocations allocations_;
  Binder binder_;
  AgesOfPlaces ages_;
  SchedulerExtender extender_;
  LostMembers lost_members_;
  EndedPods pod_store_;
  Shadow shadow_;  // replaces pod_store_ in shadow mode
  kube::NodeStore node_store_;
  kube::DisruptionBudgetStore budget_store_;
  kube::ResourceQuotaStore quota_store_;
  ReservedGpus reserved_;
  Elsewhere elsewhere_;
  NodeStorage storage_;
  kube::DeviceWatches devices_;
  kube::Watches watches_;
  // Without these, no GPUs are reserved and no nodes avoided, but everything else continues.
  kube::Watches optional_watches_;
  std::atomic<bool> all_started_ = false;  // whether watches_ may be queried
  std::unique_ptr<kube::Health> health_;
  std::jthread settling_;
  bool stopped_ = false;
};

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::Start(const config::ExtenderConfig& config,
                                              const config::ClusterAccess& access,
                                              const Clock& clock, Logger& log) {
  // Writes are not repeated, because a Binding must follow a check of the node's room.
  auto client = kube::ApiClient::Create(
      access, {.user_agent = "synergy-extender", .may_repeat_writes = [] { return false; }});
  if (!client) return Fail(client.error());
  auto options = daemon::ListenOn(config.listen, log);
  if (!options) return Fail(options.error());
  options->certificate_file = config.tls_certificate_file;
  options->key_file = config.tls_key_file;
  options->max_body_bytes = static_cast<size_t>(config.max_body_bytes);
  options->error_response = AnswerServerError;
  auto server = http::Server::Create(*std::move(options));
  if (!server) return Fail(server.error());
  auto http_server = ServeProbes(config, log);
  if (!http_server) return Fail(http_server.error());
  auto daemon = std::make_unique<RunningDaemon>(config, *std::move(client), *std::move(server),
                                                *std::move(http_server), clock, log);
  if (const Result<> started = daemon->Start(); !started) return Fail(started.error());
  log.Info("serving", {{"listen", config.listen},
                       {"port", daemon->port()},
                       {"http_port", daemon->http_port()},
                       {"api_server", access.server},
                       {"version", Version()},
                       {"commit", Commit()}});
  return daemon;
}

}  // namespace synergy::extender
