#include "controller/progress/progress_unit.h"

#include <cstdint>
#include <utility>

#include "config/text_file.h"
#include "daemon/run.h"

namespace synergy::controller {
namespace {

// Both certificates and the authority are read again when their files change.
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
  // Half of the descriptors is for the controller's other clients.
  settings.kept_connections = daemon::RaiseDescriptorLimit() / 2;
  return settings;
}

}  // namespace

ProgressUnit::ProgressUnit(const config::ControllerConfig& config, const ClusterState& state,
                           kube::ApiClient& client, const Clock& clock, Logger& log,
                           metrics::ControllerMetrics& metrics)
    : config_(config),
      state_(state),
      client_(client),
      clock_(clock),
      log_(log),
      metrics_(metrics),
      agents_(clock, config.progress.interval),
      failures_(config.failures_enabled),
      answers_(store_, clock) {}

Result<> ProgressUnit::Open() {
  if (!config_.progress.enabled) return {};
  Result<PullSettings> settings = ToPullSettings(config_);
  if (!settings) return Fail(settings.error());
  settings->renews_turns = [this] { return turn_renewal_.Holds(clock_.Now()); };
  auto puller =
      ProgressPuller::Create(agents_, store_, failures_, state_, metrics_, clock_, log_, *settings);
  if (!puller) return Fail(puller.error());
  puller_ = *std::move(puller);
  return {};
}

void ProgressUnit::Start() {
  if (puller_) puller_->Start();
}

Result<> ProgressUnit::Serve() {
  if (!config_.progress.enabled || config_.progress.listen.empty()) return {};
  auto server = ProgressServer::Start(config_, answers_, client_, clock_, log_);
  if (!server) return Fail(server.error());
  server_ = *std::move(server);
  return {};
}

void ProgressUnit::Stop() {
  server_.reset();
  puller_.reset();
}

}  // namespace synergy::controller
