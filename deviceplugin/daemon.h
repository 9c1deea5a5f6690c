#pragma once

// The device plugin as a whole: source, monitor, one kubelet endpoint per resource, the Node's
// labels and annotation, CDI file and HTTP routes, put together.
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
  // `access` is needed when the configuration names a Node. `clock` and `log` outlive the daemon.
  static Result<std::unique_ptr<Daemon>> Start(const config::DevicePluginConfig& config,
                                               const std::optional<config::ClusterAccess>& access,
                                               const Clock& clock, Logger& log);
  virtual ~Daemon() = default;

  virtual uint16_t port() const = 0;
  // The rules of health, resources, MIG, access and labels, from now on, without a stream or a
  // socket being touched. What else differs waits for a restart, and is logged. The source is
  // looked at again.
  virtual void Reload(const config::DevicePluginConfig& config) = 0;
  virtual void Stop() = 0;
};

// What the source says at this moment, as JSON.
Result<std::string> ReportOnce(const config::DevicePluginConfig& config);

}  // namespace synergy::deviceplugin
