#pragma once

// The extender as a whole: watches, verbs, HTTP routes, and the thread that settles binds in doubt.
//
// Threading: one owner.

#include <cstdint>
#include <memory>

#include "config/extender_config.h"
#include "config/kubeconfig.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"

namespace synergy::extender {

class Daemon {
 public:
  // Binds the port and starts the watches. `clock` and `log` must outlive the daemon.
  static Result<std::unique_ptr<Daemon>> Start(const config::ExtenderConfig& config,
                                               const config::ClusterAccess& access,
                                               const Clock& clock, Logger& log);
  virtual ~Daemon() = default;

  virtual uint16_t port() const = 0;
  // Returns the port of httpListen; 0 if it is not set.
  virtual uint16_t http_port() const = 0;
  // First reports not ready, then accepts no new connections, then lets the calls in progress
  // finish. Call it once.
  virtual void Stop() = 0;
};

}  // namespace synergy::extender
