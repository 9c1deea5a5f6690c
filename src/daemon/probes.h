#pragma once

// What every program serves: probes and metrics.
//
// Threading: the functions are called from the server's threads.

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

}  // namespace synergy::daemon
