#pragma once

// Assembles the node agent: the watch of its node's pods, the threads that measure and change them,
// and the HTTP servers.
//
// Threading: one owner.

#include <cstdint>
#include <memory>

#include "config/kubeconfig.h"
#include "config/node_agent_config.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "nodeagent/guarded/guardian.h"

namespace synergy::nodeagent {

class Daemon {
 public:
  // Binds the port and starts the watch. `writer`, `clock` and `log` must outlive the daemon.
  static Result<std::unique_ptr<Daemon>> Start(const config::NodeAgentConfig& config,
                                               const config::ClusterAccess& access,
                                               TemporaryWriter& writer, const Clock& clock,
                                               Logger& log);
  virtual ~Daemon() = default;

  virtual uint16_t port() const = 0;
  // Stops all threads; pending events are sent for up to a second. Call it once.
  virtual void Stop() = 0;
};

}  // namespace synergy::nodeagent
