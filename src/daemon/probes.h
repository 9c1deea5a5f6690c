#pragma once

// Serves the probes and metrics of every daemon, and lets a program check its own health.
//
// Threading: any thread. The server's threads call the functions in Probes.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/log.h"
#include "core/result.h"
#include "http/server/server.h"

namespace synergy::daemon {

struct Probes {
  // Returns why the program should be restarted; empty if it should not.
  std::function<std::string()> dead = [] { return std::string(); };
  // Returns why the program should get no traffic; empty if it is ready. Not null.
  std::function<std::string()> not_ready;
  // Returns the metrics in Prometheus' text format. Not null.
  std::function<std::string()> metrics;
  // Returns the response that refuses a request for /metrics; nullopt if the request is allowed.
  // Null allows all requests.
  std::function<std::optional<http::Response>(const http::Request&)> refuse_metrics = nullptr;
};

// Serves GET /healthz, /readyz and /metrics.
void AddProbes(http::Server& server, Probes probes);

// Serves GET /healthz and /readyz on an abstract Unix socket of this name, in its own threads, so
// that no flood of other connections delays them. Returns null if the name is empty.
Result<std::unique_ptr<http::Server>> ServeProbes(const std::string& unix_socket,
                                                  const Probes& probes, Logger& log);

http::Response Text(int status, std::string body);

// Returns the options of a server on `listen`, "host:port", that reports problems to `log`, which
// must outlive it. Returns kInvalid if `listen` is malformed.
Result<http::ServerOptions> ListenOn(const std::string& listen, Logger& log);

// Check a program's own health by requesting `path`, /healthz or /readyz. Failures: kUnavailable,
// with the answer, if its status is not 200; otherwise those of the request.
//
// CheckHealth queries the program that listens on `listen` on this machine (Docker's HEALTHCHECK);
// with `tls` it accepts any certificate. CheckProbes queries the socket of ServeProbes()
// (Kubernetes' exec probes).
Result<> CheckHealth(const std::string& listen, bool tls, const std::string& path = "/healthz");
Result<> CheckProbes(const std::string& unix_socket, const std::string& path);

}  // namespace synergy::daemon
