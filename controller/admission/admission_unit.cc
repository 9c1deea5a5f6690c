#include "controller/admission/admission_unit.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/probes.h"

namespace synergy::controller {
namespace {

// How often to look for waiting pods without amounts, if anything has changed.
constexpr Duration kSizing = std::chrono::milliseconds(250);

AdmissionSettings ToAdmissionSettings(const config::ControllerConfig& config) {
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
  settings.within_counted = !config.kueue_growth_beyond_quota;
  // The smallest pool limits the amounts that any node is assumed to have.
  settings.unplaced_per_gpu = config.unplaced.per_gpu;
  ResourceVector::ForEachDivided([&](auto member) {
    const auto least = config.least_pool_per_gpu.*member;
    auto& amount = settings.unplaced_per_gpu.*member;
    if (least.count() > 0) amount = std::min(amount, least);
  });
  return settings;
}

}  // namespace

Result<std::unique_ptr<http::Server>> MakeWebhookServer(const config::ControllerConfig& config,
                                                        metrics::ControllerMetrics& metrics,
                                                        Logger& log) {
  auto options = daemon::ListenOn(config.listen, log);
  if (!options) return Fail(options.error());
  options->certificate_file = config.tls_certificate_file;
  options->key_file = config.tls_key_file;
  options->client_ca_file = config.webhook_client_ca_file;
  options->client_name = config.webhook_client_name;
  options->max_body_bytes = static_cast<size_t>(config.max_body_bytes);
  options->error_response = [&metrics, &log](const http::Request&, int status,
                                             std::string_view reason) {
    metrics.CountBadInput(status == 413 ? "too_large" : "http");
    log.Warn("bad request", {{"status", status}, {"reason", reason}});
    return daemon::Text(status, std::string(reason) + "\n");
  };
  options->on_failed_handshake = [&metrics] { metrics.CountBadInput("tls"); };
  return http::Server::Create(*std::move(options));
}

AdmissionUnit::AdmissionUnit(const config::ControllerConfig& config, WatchedCluster& cluster,
                             kube::ApiClient& quick_client, kube::PodApi& pod_api,
                             kube::EventRecorder& events, const Leadership& leadership,
                             http::Server& server, const Clock& clock, Logger& log,
                             metrics::ControllerMetrics& metrics)
    : settings_(ToAdmissionSettings(config)),
      gang_owners_(quick_client, cluster.state(), config.gpu_resource, clock, log, metrics,
                   cluster.gpus_of_template()),
      webhook_(settings_, cluster.view(), gang_owners_, clock, log, metrics,
               cluster.gpus_of_template()),
      warnings_(cluster.pods(), events, [&leadership] { return leadership.IsLeader(); }),
      deferred_(
          settings_, config.unplaced.patience, cluster.view(), cluster.state(), pod_api, events,
          [&leadership] { return leadership.IsLeader(); }, clock, log),
      sizing_({.may_act = [&cluster,
                           &leadership] { return cluster.Complete() && leadership.IsLeader(); },
               .step =
                   [this, &cluster](const std::stop_token& stop) {
                     deferred_.SizeAll(cluster.profiles().version(), stop);
                   }},
              kSizing, clock) {
  server.Handle("POST", "/mutate-pod",
                [this](const http::Request& request) { return webhook_.ReviewPod(request); });
  server.Handle("POST", "/mutate-job",
                [this](const http::Request& request) { return webhook_.ReviewJob(request); });
  server.Handle("POST", "/validate-trainingprofile",
                [this](const http::Request& request) { return webhook_.ReviewProfile(request); });
}

}  // namespace synergy::controller
