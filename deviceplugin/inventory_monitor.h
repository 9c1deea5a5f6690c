#pragma once

// Looks at the GPUs again and again, judges their health and tells when what is to be known of them
// has changed.
//
// Threading: a thread of its own reads and calls `on_change`; everything else from any thread.
// Failures: a source that fails is logged when its message changes, and tried again.

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "core/clock.h"
#include "core/log.h"
#include "deviceplugin/device_source.h"
#include "inventory/advertisement.h"
#include "inventory/gpu.h"
#include "inventory/health.h"
#include "metrics/device_metrics.h"

namespace synergy::deviceplugin {

// All that is known at one moment. Immutable once shared.
struct Picture {
  GpuInventory inventory;
  std::vector<GpuHealth> health;  // of each GPU
  Advertisement advertisement;
};

struct MonitorRules {
  AdvertisementRules advertisement;
  GpuHealthRules health;
  std::chrono::milliseconds probe_interval{5000};
};

class InventoryMonitor {
 public:
  using OnChange = std::function<void(std::shared_ptr<const Picture>)>;

  // References outlive the monitor. Nothing happens before Start().
  InventoryMonitor(std::unique_ptr<DeviceSource> source, MonitorRules rules, OnChange on_change,
                   const Clock& clock, Logger& log, metrics::DeviceMetrics& metrics);
  ~InventoryMonitor();

  void Start();
  void Stop();
  // From the next look on, which happens at once.
  void SetRules(MonitorRules rules);

  // None before the first look that succeeded.
  std::shared_ptr<const Picture> picture() const;
  std::map<std::string, DeviceUse> ReadUse() { return source_->ReadUse(); }
  // Empty when the last look succeeded.
  std::string source_error() const;
  // When the last look ended: an NVML call that hangs shows here.
  Instant last_look() const;

 private:
  void Run(const std::stop_token& stop);
  void Look();
  void SeeEvents(const std::vector<XidEvent>& events);
  void SetSourceError(const std::string& error);
  void LogHealth(const Picture& before, const Picture& now);

  const std::unique_ptr<DeviceSource> source_;
  const OnChange on_change_;
  const Clock& clock_;
  Logger& log_;
  metrics::DeviceMetrics& metrics_;

  mutable std::mutex mutex_;
  MonitorRules rules_;
  std::shared_ptr<const Picture> picture_;
  std::string source_error_ = "the GPUs have not been looked at yet";
  Instant last_look_;

  // The thread's own.
  GpuHealthJudge judge_;
  std::jthread thread_;
};

}  // namespace synergy::deviceplugin
