#include "controller/progress/progress_server.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "daemon/probes.h"
#include "wire/agents/progress.h"

namespace synergy::controller {
namespace {

std::string ReaderOf(const config::ControllerConfig& config) {
  return fmt::format("system:serviceaccount:{}:{}", config.own_namespace, config.progress.reader);
}

std::string CureFor(const config::ControllerConfig& config) {
  return fmt::format(
      "send a token of the service account {} in the header {}, like `kubectl synergy`: `kubectl "
      "create token {} --namespace {} --audience {}` prints one",
      config.progress.reader, wire::kProgressTokenHeader, config.progress.reader,
      config.own_namespace, wire::kProgressAudience);
}

}  // namespace

Result<std::unique_ptr<ProgressServer>> ProgressServer::Start(
    const config::ControllerConfig& config, ProgressAnswers& answers, kube::ApiClient& client,
    const Clock& clock, Logger& log) {
  auto options = daemon::ListenOn(config.progress.listen, log);
  if (!options) return Fail(options.error());
  options->certificate_file = config.tls_certificate_file;
  options->key_file = config.tls_key_file;
  options->max_body_bytes = 1024;
  options->max_connections = kMostConnections;
  options->exempt_loopback = false;
  auto server = http::Server::Create(*std::move(options));
  if (!server) return Fail(server.error());
  std::unique_ptr<ProgressServer> made(
      new ProgressServer(config, answers, client, clock, log, *std::move(server)));
  if (const Result<> started = made->server_->Start(); !started) return Fail(started.error());
  return made;
}

ProgressServer::ProgressServer(const config::ControllerConfig& config, ProgressAnswers& answers,
                               kube::ApiClient& client, const Clock& clock, Logger& log,
                               std::unique_ptr<http::Server> server)
    : answers_(answers),
      cure_(CureFor(config)),
      api_(kube::MakeAccessApi(client)),
      gate_(kube::JudgeByUser(*api_, ReaderOf(config), std::string(wire::kProgressAudience)), clock,
            log),
      server_(std::move(server)) {
  server_->Handle("GET", "/progress",
                  [this](const http::Request& request) { return Answer(request); });
}

http::Response ProgressServer::Answer(const http::Request& request) {
  const auto access = gate_.Check(request.header(wire::kProgressTokenHeader));
  if (auto refusal = kube::RefusalOf(access, cure_)) return *std::move(refusal);
  return answers_.Answer(request);
}

}  // namespace synergy::controller
