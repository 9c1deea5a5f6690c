#pragma once

// Assembles the device plugin: source, monitor, one kubelet endpoint per resource, the Node's
// labels and annotation, the CDI file and the HTTP routes.
//
// Threading: one owner.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "config/device_plugin_config.h"
#include "config/kubeconfig.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"

namespace synergy::deviceplugin {

class Daemon {
 public:
  // `access` is required if the configuration names a Node. `clock` and `log` must outlive the
  // daemon.
  static Result<std::unique_ptr<Daemon>> Start(const config::DevicePluginConfig& config,
                                               const std::optional<config::ClusterAccess>& access,
                                               const Clock& clock, Logger& log);
  virtual ~Daemon() = default;

  virtual uint16_t port() const = 0;
  // Applies new rules for health, resources, MIG, access and labels at once, without touching a
  // stream or a socket. Other changes take effect only after a restart, and are logged. Reads the
  // source again.
  virtual void Reload(const config::DevicePluginConfig& config) = 0;
  virtual void Stop() = 0;
};

// Returns the source's present report, as JSON.
Result<std::string> ReportOnce(const config::DevicePluginConfig& config);

}  // namespace synergy::deviceplugin
