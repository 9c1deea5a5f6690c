#pragma once

// Probes and metrics, which every program serves, and a health check without Kubernetes.
//
// Threading: any. The functions in Probes are called from the server's threads.

#include <functional>
#include <optional>
#include <string>

#include "core/log.h"
#include "core/result.h"
#include "http/server/server.h"

namespace synergy::daemon {

struct Probes {
  // Return why the program should be restarted, or should get no traffic; empty: it is well.
  std::function<std::string()> dead = [] { return std::string(); };
  std::function<std::string()> not_ready;
  std::function<std::string()> metrics;  // Prometheus' text format
  // Returns the refusal of a request for /metrics; none: it is allowed. Null: all are allowed.
  std::function<std::optional<http::Response>(const http::Request&)> refuse_metrics = nullptr;
};

// Serves GET /healthz, /readyz and /metrics.
void AddProbes(http::Server& server, Probes probes);

http::Response Text(int status, std::string body);

// Returns the options of a server on `listen`, "host:port", that reports problems to `log`, which
// outlives it. kInvalid: `listen` is malformed.
Result<http::ServerOptions> ListenOn(const std::string& listen, Logger& log);

// The programs' own health check, for users who run them without Kubernetes' probes (Docker's
// HEALTHCHECK): requests /healthz from the program that listens on `listen` on this machine; with
// `tls`, accepts any certificate.
// Failures: kUnavailable, with the answer if there is one.
Result<> CheckHealth(const std::string& listen, bool tls);

}  // namespace synergy::daemon
