#pragma once

// A device plugin's metrics, with a value for each.

#include <chrono>

#include "metrics/device_metrics.h"

namespace synergy::testing {

inline metrics::DeviceGauges SampleDeviceGauges() {
  metrics::DeviceGauges gauges;
  gauges.gpus.push_back(
      {"GPU-0", "NVIDIA A100", "0000:3b:00.0", true, GiB(80), 0.5, GiB(20), 61.0, 250.5});
  gauges.gpus.push_back({.uuid = "GPU-1", .product = "NVIDIA A100", .healthy = false});
  gauges.devices.push_back({"nvidia.com/gpu", "NVIDIA A100", true, 1});
  gauges.devices.push_back({"nvidia.com/gpu", "NVIDIA A100", false, 1});
  gauges.resources.push_back({"nvidia.com/gpu", true});
  gauges.allocated.emplace();
  gauges.allocated->push_back(
      {"nvidia.com/gpu", "GPU-0", "", "team", "train-0", "main", 0.5, GiB(20)});
  gauges.allocated->push_back(
      {"nvidia.com/mig-1g.10gb", "GPU-1", "MIG-7", "team", "serve-0", "main", {}, GiB(2)});
  gauges.left_out = 2;
  gauges.unreachable = 1;
  gauges.without_events = 3;
  gauges.source_ok = true;
  gauges.ready = true;
  return gauges;
}

inline void RecordSamples(metrics::DeviceMetrics& metrics) {
  metrics.CountRegistration("nvidia.com/gpu", "ok");
  metrics.CountAllocate("nvidia.com/gpu", "ok", std::chrono::microseconds(20));
  metrics.CountPreferred("nvidia.com/gpu", "ok", std::chrono::microseconds(20));
  metrics.CountListSent("nvidia.com/gpu");
  metrics.CountXid("GPU-1", 79);
  metrics.CountSourceError();
  metrics.CountNodePatch("ok");
  metrics.SetGauges(SampleDeviceGauges);
}

}  // namespace synergy::testing
