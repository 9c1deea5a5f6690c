#include "daemon/probes.h"

#include <utility>

#include "config/listen_address.h"

namespace synergy::daemon {

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

}  // namespace synergy::daemon
