#pragma once

// Assembles the controller: it creates the objects that all units share, creates the units, and
// starts and stops them. It serves the webhook over HTTPS, and health and metrics over HTTP.
//
// Threading: one owner.

#include <cstdint>
#include <memory>

#include "config/controller_config.h"
#include "config/kubeconfig.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"

namespace synergy::controller {

class Daemon {
 public:
  // Binds the ports and starts the watches. `clock` and `log` must outlive the daemon.
  static Result<std::unique_ptr<Daemon>> Start(const config::ControllerConfig& config,
                                               const config::ClusterAccess& access,
                                               const Clock& clock, Logger& log);
  virtual ~Daemon() = default;

  virtual uint16_t webhook_port() const = 0;
  virtual uint16_t http_port() const = 0;
  // First reports not ready, then accepts no new connections, then waits for the calls in progress.
  // Call it once.
  virtual void Stop() = 0;
};

}  // namespace synergy::controller
