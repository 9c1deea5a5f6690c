#pragma once

// The device source that a configuration asks for.
//
// Threading: any.

#include <memory>

#include "config/device_plugin_config.h"
#include "core/clock.h"
#include "core/result.h"
#include "deviceplugin/sources/device_source.h"

namespace synergy::deviceplugin {

// `clock` outlives the source. kNotFound when NVML is missing and the configuration says not to
// wait for it.
Result<std::unique_ptr<DeviceSource>> MakeSource(const config::DevicePluginConfig& config,
                                                 const Clock& clock);

}  // namespace synergy::deviceplugin
