#pragma once

// Probes and metrics, which every program serves, and a health check without Kubernetes.
//
// Threading: from any thread. The functions in Probes are called from the server's threads.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/log.h"
#include "core/result.h"
#include "http/server/server.h"

namespace synergy::daemon {

struct Probes {
  // Return why the program should be restarted, or should get no traffic; empty: it is healthy.
  std::function<std::string()> dead = [] { return std::string(); };
  std::function<std::string()> not_ready;
  std::function<std::string()> metrics;  // Prometheus' text format
  // Returns the refusal of a request for /metrics; none: it is allowed. Null: all are allowed.
  std::function<std::optional<http::Response>(const http::Request&)> refuse_metrics = nullptr;
};

// Serves GET /healthz, /readyz and /metrics.
void AddProbes(http::Server& server, Probes probes);

// Serves GET /healthz and /readyz on an abstract Unix socket of this name, in threads of its own:
// no flood of other connections delays them. Null if the name is empty.
Result<std::unique_ptr<http::Server>> ServeProbes(const std::string& unix_socket,
                                                  const Probes& probes, Logger& log);

http::Response Text(int status, std::string body);

// Returns the options of a server on `listen`, "host:port", that reports problems to `log`, which
// outlives it. kInvalid: `listen` is malformed.
Result<http::ServerOptions> ListenOn(const std::string& listen, Logger& log);

// The programs' own health check: requests `path`, /healthz or /readyz.
// Failures: kUnavailable, with the answer if there is one.
//
// CheckHealth asks the program that listens on `listen` on this machine (Docker's HEALTHCHECK);
// with `tls`, accepts any certificate. CheckProbes asks that of ServeProbes() (Kubernetes' exec
// probes).
Result<> CheckHealth(const std::string& listen, bool tls, const std::string& path = "/healthz");
Result<> CheckProbes(const std::string& unix_socket, const std::string& path);

}  // namespace synergy::daemon
