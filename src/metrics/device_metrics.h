#pragma once

// Every metric of synergy-device-plugin. device_metrics.cc alone defines names, labels and units;
// docs/internals/device-plugin.md lists them.
//
// Threading: any thread. Recording takes a few atomic operations.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.h"
#include "metrics/gpu_metrics.h"

namespace synergy::metrics {

// Read at each scrape, not counted over time.
struct DeviceGauges {
  struct Devices {
    std::string resource;
    std::string product;
    bool healthy = true;
    uint64_t count = 0;
  };
  struct Resource {
    std::string resource;
    bool registered = false;
  };

  std::vector<GpuGauge> gpus;
  std::vector<Devices> devices;  // as advertised, counted by product and health
  std::vector<Resource> resources;
  std::optional<std::vector<AllocatedGpu>> allocated;  // absent: the kubelet did not report it
  uint64_t left_out = 0;                               // GPUs in MIG mode that are not advertised
  uint64_t unreachable = 0;                            // GPUs that cannot be identified
  uint64_t without_events = 0;                         // GPUs whose Xids are not reported
  bool stopped = false;                                // because another component offers GPUs
  bool source_ok = false;
  bool ready = false;
};

class DeviceMetrics {
 public:
  // `node`: the name of this node; empty if unknown.
  explicit DeviceMetrics(const std::string& node = {});
  ~DeviceMetrics();

  // `outcome` is one of a few fixed words, here and below.
  void CountRegistration(const std::string& resource, std::string_view outcome);
  void CountAllocate(const std::string& resource, std::string_view outcome, Duration duration);
  void CountPreferred(const std::string& resource, std::string_view outcome, Duration duration);
  // Counts a list of a resource's devices that was sent to the kubelet.
  void CountListSent(const std::string& resource);
  void CountXid(const std::string& uuid, uint64_t xid);
  void CountSourceError();
  void CountNodePatch(std::string_view outcome);

  // Each scrape calls `read`; set it before the first.
  void SetGauges(std::function<DeviceGauges()> read);

  // Returns the text exposition format (version 0.0.4).
  std::string Render() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace synergy::metrics
