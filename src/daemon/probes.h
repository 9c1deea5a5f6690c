#pragma once

// What every program serves, probes and metrics, and how it is asked for its health without
// Kubernetes.
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
  // Why the program should be restarted, or should be left alone by traffic; empty: all is well.
  std::function<std::string()> dead = [] { return std::string(); };
  std::function<std::string()> not_ready;
  std::function<std::string()> metrics;  // Prometheus' text format
  // Why /metrics is not for that request; none: it is. Null: it is for everybody.
  std::function<std::optional<http::Response>(const http::Request&)> refuse_metrics = nullptr;
};

// GET /healthz, /readyz and /metrics.
void AddProbes(http::Server& server, Probes probes);

http::Response Text(int status, std::string body);

// Of a server on `listen`, "host:port", that tells `log`, which outlives it, of its problems.
// kInvalid when it is none.
Result<http::ServerOptions> ListenOn(const std::string& listen, Logger& log);

// The programs' own health check, for those who run them without Kubernetes' probes (Docker's
// HEALTHCHECK): asks the program that listens on `listen` of this machine for /healthz; with `tls`,
// whatever its certificate says. Failures: kUnavailable, with the answer where there is one.
Result<> CheckHealth(const std::string& listen, bool tls);

}  // namespace synergy::daemon
