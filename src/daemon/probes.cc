#include "daemon/probes.h"

#include <utility>

#include <fmt/format.h>

#include "config/listen_address.h"
#include "http/client.h"

namespace synergy::daemon {
namespace {

// A program that listens on all addresses is reached on the loopback.
std::string HostOf(const config::ListenAddress& address) {
  if (address.host == "0.0.0.0") return "127.0.0.1";
  if (address.host == "::") return "[::1]";
  return address.host.find(':') == std::string::npos ? address.host : "[" + address.host + "]";
}

}  // namespace

void AddProbes(http::Server& server, Probes probes) {
  server.Handle("GET", "/healthz", [dead = std::move(probes.dead)](const http::Request&) {
    const std::string reason = dead();
    return reason.empty() ? Text(200, "ok\n") : Text(503, reason + "\n");
  });
  server.Handle("GET", "/readyz", [not_ready = std::move(probes.not_ready)](const http::Request&) {
    const std::string reason = not_ready();
    return reason.empty() ? Text(200, "ok\n") : Text(503, "not ready: " + reason + "\n");
  });
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

Result<> CheckHealth(const std::string& listen, bool tls) {
  const auto address = config::ParseListenAddress(listen);
  if (!address) return Fail(address.error());
  http::ClientOptions options;
  options.base_url =
      fmt::format("{}://{}:{}", tls ? "https" : "http", HostOf(*address), address->port);
  options.tls.skip_verify = true;
  auto client = http::Client::Create(std::move(options));
  if (!client) return Fail(client.error());
  const auto answer = (*client)->Send({.path = "/healthz"});
  if (!answer) return Fail(answer.error());
  if (answer->status != 200) {
    return Fail(ErrorCode::kUnavailable,
                fmt::format("/healthz answers {}: {}", answer->status, answer->body));
  }
  return {};
}

}  // namespace synergy::daemon
