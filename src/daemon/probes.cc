#include "daemon/probes.h"

#include <utility>

#include <fmt/format.h>

#include "config/listen_address.h"
#include "http/client.h"
#include "http/local_client.h"

namespace synergy::daemon {
namespace {

// A program that listens on all addresses can be reached on loopback.
std::string HostOf(const config::ListenAddress& address) {
  if (address.host.empty() || address.host == "0.0.0.0") return "127.0.0.1";
  if (address.host == "::") return "[::1]";
  return address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]";
}

void AddHealth(http::Server& server, const Probes& probes) {
  server.Handle("GET", "/healthz", [dead = probes.dead](const http::Request&) {
    const std::string reason = dead();
    return reason.empty() ? Text(200, "ok\n") : Text(503, reason + "\n");
  });
  server.Handle("GET", "/readyz", [not_ready = probes.not_ready](const http::Request&) {
    const std::string reason = not_ready();
    return reason.empty() ? Text(200, "ok\n") : Text(503, "not ready: " + reason + "\n");
  });
}

Result<> CheckAnswer(const Result<http::ClientResponse>& answer, const std::string& path) {
  if (!answer) return Fail(answer.error());
  if (answer->status == 200) return {};
  return Fail(ErrorCode::kUnavailable,
              fmt::format("{} answers {}: {}", path, answer->status, answer->body));
}

}  // namespace

void AddProbes(http::Server& server, Probes probes) {
  AddHealth(server, probes);
  server.Handle("GET", "/metrics",
                [metrics = std::move(probes.metrics),
                 refuse = std::move(probes.refuse_metrics)](const http::Request& request) {
                  if (refuse) {
                    if (auto refusal = refuse(request)) return *std::move(refusal);
                  }
                  return http::Response{200, "text/plain; version=0.0.4; charset=utf-8", metrics()};
                });
}

http::Response Text(int status, std::string body) {
  return {status, "text/plain; charset=utf-8", std::move(body)};
}

Result<http::ServerOptions> ListenOn(const std::string& listen, Logger& log) {
  auto address = config::ParseListenAddress(listen);
  if (!address) return Fail(address.error());
  http::ServerOptions options;
  options.host = std::move(address->host);
  options.port = address->port;
  options.on_problem = [&log, listen](std::string_view problem) {
    log.Warn("server", {{"listen", listen}, {"problem", problem}});
  };
  return options;
}

Result<std::unique_ptr<http::Server>> ServeProbes(const std::string& unix_socket,
                                                  const Probes& probes, Logger& log) {
  if (unix_socket.empty()) return nullptr;
  http::ServerOptions options;
  options.unix_socket = unix_socket;
  options.max_connections = 16;
  options.max_body_bytes = 1024;
  options.on_problem = [&log](std::string_view problem) {
    log.Warn("server of probes", {{"problem", problem}});
  };
  auto server = http::Server::Create(std::move(options));
  if (!server) return Fail(server.error());
  AddHealth(**server, probes);
  if (const Result<> started = (*server)->Start(); !started) return Fail(started.error());
  return server;
}

Result<> CheckHealth(const std::string& listen, bool tls, const std::string& path) {
  const auto address = config::ParseListenAddress(listen);
  if (!address) return Fail(address.error());
  http::ClientOptions options;
  options.base_url =
      fmt::format("{}://{}:{}", tls ? "https" : "http", HostOf(*address), address->port);
  options.tls.skip_verify = true;
  auto client = http::Client::Create(std::move(options));
  if (!client) return Fail(client.error());
  return CheckAnswer((*client)->Send({.path = path}), path);
}

Result<> CheckProbes(const std::string& unix_socket, const std::string& path) {
  return CheckAnswer(http::GetLocally(unix_socket, path), path);
}

}  // namespace synergy::daemon
