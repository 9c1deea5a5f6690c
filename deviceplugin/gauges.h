#pragma once

// Reads the gauges of the device plugin for a scrape.
//
// Threading: any thread.

#include <map>
#include <string>

#include "deviceplugin/sources/inventory_monitor.h"
#include "kubelet/pod_resources.h"
#include "metrics/device_metrics.h"

namespace synergy::deviceplugin {

// `registered`: whether each resource is registered, by its name.
metrics::DeviceGauges ReadGauges(InventoryMonitor& monitor,
                                 const std::map<std::string, bool>& registered,
                                 kubelet::PodResources& pod_resources, bool ready);

}  // namespace synergy::deviceplugin
