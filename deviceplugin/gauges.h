#pragma once

// Reads the gauges of the device plugin for a scrape.
//
// Threading: from any thread.

#include <map>
#include <string>

#include "deviceplugin/plugin/pod_resources.h"
#include "deviceplugin/sources/inventory_monitor.h"
#include "metrics/device_metrics.h"

namespace synergy::deviceplugin {

// `registered` is by resource.
metrics::DeviceGauges ReadGauges(InventoryMonitor& monitor,
                                 const std::map<std::string, bool>& registered,
                                 PodResources& pod_resources, bool ready);

}  // namespace synergy::deviceplugin
