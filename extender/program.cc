#include "extender/program.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "allocation/best_fit.h"
#include "cluster/cluster_state.h"
#include "core/version.h"
#include "daemon/probes.h"
#include "extender/allocations.h"
#include "extender/binder.h"
#include "extender/gauges.h"
#include "extender/scheduler_extender.h"
#include "http/server.h"
#include "json/cluster_dump.h"
#include "json/extender_messages.h"
#include "json/objects.h"
#include "kube/api_client.h"
#include "kube/cluster_store.h"
#include "kube/events.h"
#include "kube/health.h"
#include "kube/instance.h"
#include "kube/reflector.h"
#include "metrics/extender_metrics.h"

namespace synergy::extender {
namespace {

using metrics::Verb;

// Many times what a watch is behind another one, and little for a pod that waits anyway.
constexpr auto kCatchUp = std::chrono::milliseconds(50);

// kube-scheduler loses the reason of any status but 200, so the server's own refusals are answers
// too on the verbs' paths.
http::Response AnswerServerError(const http::Request& request, int status,
                                 std::string_view reason) {
  for (const Verb verb : metrics::kVerbs) {
    if (request.path.substr(1) == ToString(verb))
      return {200, "application/json", json::WriteError(reason)};
  }
  return daemon::Text(status, std::string(reason) + "\n");
}

// The server of httpListen, or none.
Result<std::unique_ptr<http::Server>> ServeProbes(const std::string& listen) {
  if (listen.empty()) return nullptr;
  auto options = daemon::ListenOn(listen);
  if (!options) return Fail(options.error());
  return http::Server::Create(*std::move(options));
}

class RunningProgram final : public Program {
 public:
  RunningProgram(const config::ExtenderConfig& config, std::unique_ptr<kube::ApiClient> client,
                 std::unique_ptr<http::Server> server, std::unique_ptr<http::Server> http_server,
                 const Clock& clock, Logger& log)
      : config_(config),
        clock_(clock),
        log_(log),
        client_(std::move(client)),
        server_(std::move(server)),
        http_server_(std::move(http_server)),
        reader_(config.gpu_resource),
        metrics_(config.gpu_resource),
        events_(kube::EventRecorder::Start(*client_, clock, log, "synergy-extender",
                                           kube::InstanceName())),
        allocations_(*client_, reader_, *events_, clock, log, metrics_,
                     ReserveRule{config.reserve_per_gpu}),
        binder_(state_, *client_, reader_, allocations_, clock, log, metrics_,
                config.assume_timeout),
        extender_(state_, binder_, reader_, ReserveRule{config.reserve_per_gpu},
                  config.expect_timeout, clock, log, metrics_,
                  {[this] { return Complete(); }, [this] { clock_.SleepFor(kCatchUp, {}); }}),
        pod_store_(state_),
        node_store_(state_),
        budget_store_(state_) {}

  ~RunningProgram() override { Stop(); }

  Result<> Start() {
    const auto seed = static_cast<uint64_t>(clock_.WallNow().time_since_epoch().count());
    const auto watch = [&](std::string path, std::string field_selector, uint64_t offset) {
      return kube::WatchWithin(config_.staleness_limit, std::move(path), std::move(field_selector),
                               seed + offset);
    };
    nodes_ = kube::Reflector<Node>::Start(*client_, reader_, node_store_, clock_, log_,
                                          watch("/api/v1/nodes", "", 0));
    // Terminal pods take nothing: kube-scheduler leaves them out in the same way.
    pods_ = kube::Reflector<Pod>::Start(
        *client_, reader_, pod_store_, clock_, log_,
        watch("/api/v1/pods", "status.phase!=Succeeded,status.phase!=Failed", 1));
    budgets_ = kube::Reflector<DisruptionBudget>::Start(
        *client_, reader_, budget_store_, clock_, log_,
        watch("/apis/policy/v1/poddisruptionbudgets", "", 2));
    resources_ = {{"nodes", [this] { return nodes_->status(); }},
                  {"pods", [this] { return pods_->status(); }},
                  {"poddisruptionbudgets", [this] { return budgets_->status(); }}};
    health_ = std::make_unique<kube::Health>(resources_, clock_, config_.staleness_limit);
    metrics_.SetClusterGauges([this] {
      return ReadGauges(state_, ReserveRule{config_.reserve_per_gpu}, resources_, *health_, clock_);
    });
    AddRoutes();
    AddProbes(*server_);
    if (http_server_) AddProbes(*http_server_);
    settling_ = std::jthread([this](const std::stop_token& stop) {
      while (clock_.SleepFor(std::chrono::seconds(1), stop)) binder_.SettleExpired();
    });
    if (http_server_) {
      if (const Result<> started = http_server_->Start(); !started) return started;
    }
    return server_->Start();
  }

  uint16_t port() const override { return server_->port(); }
  uint16_t http_port() const override { return http_server_ ? http_server_->port() : 0; }

  void Stop() override {
    if (std::exchange(stopped_, true)) return;
    if (health_) health_->ShutDown();
    server_->Stop(config_.shutdown_grace);
    if (http_server_) http_server_->Stop(config_.shutdown_grace);
    settling_.request_stop();
    if (settling_.joinable()) settling_.join();
    pods_.reset();
    nodes_.reset();
    budgets_.reset();
  }

 private:
  bool Complete() const {
    return std::all_of(resources_.begin(), resources_.end(),
                       [](const auto& resource) { return resource.status().synced; });
  }

  void AddRoutes() {
    AddVerb(Verb::kFilter, [this](std::string_view body) { return extender_.Filter(body); });
    AddVerb(Verb::kPrioritize,
            [this](std::string_view body) { return extender_.Prioritize(body); });
    AddVerb(Verb::kBind, [this](std::string_view body) { return extender_.Bind(body); });
    AddVerb(Verb::kPreempt, [this](std::string_view body) { return extender_.Preempt(body); });
    server_->Handle("GET", "/debug/state", [this](const http::Request&) {
      return http::Response{200, "application/json",
                            json::WriteSnapshot(*state_.Snapshot(), config_.gpu_resource)};
    });
  }

  void AddProbes(http::Server& server) {
    daemon::AddProbes(server, {.not_ready = [this] { return health_->NotReadyReason(); },
                               .metrics = [this] { return metrics_.Render(); }});
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
  std::unique_ptr<http::Server> http_server_;  // none without httpListen
  json::ObjectReader reader_;
  metrics::ExtenderMetrics metrics_;
  ClusterState state_;
  std::unique_ptr<kube::EventRecorder> events_;
  Allocations allocations_;
  Binder binder_;
  SchedulerExtender extender_;
  kube::PodStore pod_store_;
  kube::NodeStore node_store_;
  kube::DisruptionBudgetStore budget_store_;
  std::unique_ptr<kube::Reflector<Pod>> pods_;
  std::unique_ptr<kube::Reflector<Node>> nodes_;
  std::unique_ptr<kube::Reflector<DisruptionBudget>> budgets_;
  std::vector<kube::WatchedResource> resources_;
  std::unique_ptr<kube::Health> health_;
  std::jthread settling_;
  bool stopped_ = false;
};

}  // namespace

Result<std::unique_ptr<Program>> Program::Start(const config::ExtenderConfig& config,
                                                const config::ClusterAccess& access,
                                                const Clock& clock, Logger& log) {
  auto client = kube::ApiClient::Create(access, {.user_agent = "synergy-extender"});
  if (!client) return Fail(client.error());
  auto options = daemon::ListenOn(config.listen);
  if (!options) return Fail(options.error());
  options->certificate_file = config.tls_certificate_file;
  options->key_file = config.tls_key_file;
  options->max_body_bytes = static_cast<size_t>(config.max_body_bytes);
  options->error_response = AnswerServerError;
  auto server = http::Server::Create(*std::move(options));
  if (!server) return Fail(server.error());
  auto http_server = ServeProbes(config.http_listen);
  if (!http_server) return Fail(http_server.error());
  auto program = std::make_unique<RunningProgram>(config, *std::move(client), *std::move(server),
                                                  *std::move(http_server), clock, log);
  if (const Result<> started = program->Start(); !started) return Fail(started.error());
  log.Info("serving", {{"listen", config.listen},
                       {"port", program->port()},
                       {"http_port", program->http_port()},
                       {"api_server", access.server},
                       {"version", Version()},
                       {"commit", Commit()}});
  return program;
}

}  // namespace synergy::extender
