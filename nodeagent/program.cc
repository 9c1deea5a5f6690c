#include "nodeagent/program.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/version.h"
#include "daemon/probes.h"
#include "http/server.h"
#include "json/objects.h"
#include "kube/api_client.h"
#include "kube/events.h"
#include "kube/reflector.h"
#include "metrics/node_agent_metrics.h"
#include "nodeagent/health.h"
#include "nodeagent/memory_groups.h"
#include "nodeagent/shrinker.h"

namespace synergy::nodeagent {
namespace {

kube::ReflectorOptions WatchOf(const config::NodeAgentConfig& config, const Clock& clock) {
  // One node's, whatever the size of the cluster.
  return kube::WatchWithin(
      config.staleness_limit, "/api/v1/pods",
      fmt::format("spec.nodeName={},status.phase!=Succeeded,status.phase!=Failed",
                  config.node_name),
      static_cast<uint64_t>(clock.WallNow().time_since_epoch().count()));
}

class RunningProgram final : public Program {
 public:
  RunningProgram(const config::NodeAgentConfig& config, std::unique_ptr<kube::ApiClient> client,
                 std::unique_ptr<http::Server> server, std::unique_ptr<MemoryGroups> groups,
                 const Clock& clock, Logger& log)
      : config_(config),
        clock_(clock),
        client_(std::move(client)),
        server_(std::move(server)),
        groups_(std::move(groups)),
        reader_("nvidia.com/gpu"),  // of no account here: no amounts of GPUs are read
        events_(kube::EventRecorder::Start(*client_, clock, log, "synergy-node-agent",
                                           config.node_name)),
        shrinker_(*groups_, *events_, clock, log, metrics_,
                  {{config.margin_percent, config.margin_most}, config.give_up_after}),
        log_(log) {}

  ~RunningProgram() override { Stop(); }

  Result<> Start() {
    pods_ = kube::Reflector<json::ResizeStatus>::Start(*client_, reader_, shrinker_, clock_, log_,
                                                       WatchOf(config_, clock_));
    metrics_.SetGauges([this] { return ReadGauges(); });
    daemon::AddProbes(*server_, {.not_ready = [this] { return NotReady(); },
                                 .metrics = [this] { return metrics_.Render(); }});
    shrinking_ = std::jthread([this](const std::stop_token& stop) {
      while (shrinker_.AwaitWork(stop)) {
        shrinker_.Step(stop);
        if (!clock_.SleepFor(config_.check_interval, stop)) return;
      }
    });
    return server_->Start();
  }

  uint16_t port() const override { return server_->port(); }

  void Stop() override {
    if (std::exchange(stopped_, true)) return;
    shrinking_.request_stop();
    if (shrinking_.joinable()) shrinking_.join();
    server_->Stop(config_.shutdown_grace);
    pods_.reset();
  }

 private:
  metrics::NodeAgentGauges ReadGauges() const {
    const kube::ReflectorStatus status = pods_->status();
    metrics::NodeAgentGauges gauges;
    gauges.watched_pods = shrinker_.watched_pods();
    gauges.shrinks_in_progress = shrinker_.in_progress();
    gauges.dropped_events = events_->dropped();
    gauges.synced = status.synced;
    gauges.staleness = status.synced ? clock_.Now() - status.last_contact : Duration::zero();
    gauges.watch_errors = status.errors;
    gauges.ready = NotReady().empty();
    return gauges;
  }

  std::string NotReady() const {
    return NotReadyReason(pods_->status(), clock_, config_.staleness_limit);
  }

  const config::NodeAgentConfig config_;
  const Clock& clock_;
  std::unique_ptr<kube::ApiClient> client_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<MemoryGroups> groups_;
  json::ObjectReader reader_;
  metrics::NodeAgentMetrics metrics_;
  std::unique_ptr<kube::EventRecorder> events_;
  Shrinker shrinker_;
  Logger& log_;
  std::unique_ptr<kube::Reflector<json::ResizeStatus>> pods_;
  std::jthread shrinking_;
  bool stopped_ = false;
};

}  // namespace

Result<std::unique_ptr<Program>> Program::Start(const config::NodeAgentConfig& config,
                                                const config::ClusterAccess& access,
                                                const Clock& clock, Logger& log) {
  auto groups = FindMemoryGroups(config.cgroup_folder, config.kubelet_cgroup_root);
  if (!groups) return Fail(groups.error());
  auto client = kube::ApiClient::Create(access, {.user_agent = "synergy-node-agent"});
  if (!client) return Fail(client.error());
  auto options = daemon::ListenOn(config.listen);
  if (!options) return Fail(options.error());
  options->max_body_bytes = size_t{64} << 10;
  options->max_connections = 16;
  auto server = http::Server::Create(*std::move(options));
  if (!server) return Fail(server.error());
  auto program = std::make_unique<RunningProgram>(config, *std::move(client), *std::move(server),
                                                  *std::move(groups), clock, log);
  if (const Result<> started = program->Start(); !started) return Fail(started.error());
  log.Info("serving", {{"listen", config.listen},
                       {"port", program->port()},
                       {"node", config.node_name},
                       {"api_server", access.server},
                       {"version", Version()},
                       {"commit", Commit()}});
  return program;
}

}  // namespace synergy::nodeagent
