#include "nodeagent/progress/progress_server.h"

#include <utility>

#include "daemon/probes.h"
#include "wire/agents/progress.h"

namespace synergy::nodeagent {

Result<std::unique_ptr<ProgressServer>> ProgressServer::Start(const config::NodeAgentConfig& config,
                                                              std::function<NodeProgress()> read,
                                                              std::function<void()> renew_turns,
                                                              Logger& log) {
  auto options = daemon::ListenOn(config.progress_listen, log);
  if (!options) return Fail(options.error());
  options->certificate_file = config.tls_certificate_file;
  options->key_file = config.tls_key_file;
  options->client_ca_file = config.client_ca_file;
  options->client_name = config.client_name;
  options->max_body_bytes = 1024;
  // Allows a connection from each replica of the controller, and some that are still in their TLS
  // handshake.
  options->max_connections = 16;
  auto server = http::Server::Create(*std::move(options));
  if (!server) return Fail(server.error());
  (*server)->Handle(
      "GET", "/progress",
      [read = std::move(read), renew_turns = std::move(renew_turns)](const http::Request& request) {
        if (request.header("Synergy-Turns") == "renew") renew_turns();
        return http::Response{.body = wire::WriteNodeProgress(read())};
      });
  if (const Result<> started = (*server)->Start(); !started) return Fail(started.error());
  return std::unique_ptr<ProgressServer>(new ProgressServer(*std::move(server)));
}

}  // namespace synergy::nodeagent
