#pragma once

// Reads the GPUs periodically, judges their health, and reports changes.
//
// Threading: its own thread reads and calls back; any thread may call the rest. Failures: a
// source's failure is logged if its message changes, and retried.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "core/log.h"
#include "deviceplugin/sources/device_source.h"
#include "inventory/advertisement.h"
#include "inventory/gpu.h"
#include "inventory/health.h"
#include "metrics/device_metrics.h"

namespace synergy::deviceplugin {

// The state of all GPUs at one moment. Immutable once shared.
struct Picture {
  GpuInventory inventory;
  std::vector<GpuHealth> health;  // one per GPU
  Advertisement advertisement;
  std::map<unsigned, std::string> unreachable;        // see Reading
  std::map<std::string, std::string> without_events;  // see Reading

  bool operator==(const Picture&) const = default;
};

// A problem of a GPU that has begun, changed or ended.
struct GpuNews {
  bool bad = true;
  std::string reason;   // for an event: "SynergyGpuUnhealthy"
  std::string message;  // "GPU GPU-0 is unhealthy: Xid 79: the GPU needs a reset"
};

struct MonitorRules {
  AdvertisementRules advertisement;
  GpuHealthRules health;
  std::chrono::milliseconds probe_interval{5000};
};

// The monitor's thread calls these, except empty ones.
struct MonitorCallbacks {
  std::function<void(std::shared_ptr<const Picture>)> on_change;
  std::function<void(const GpuNews&)> on_news;
  std::function<void()> on_look;  // after every look
  std::function<void(const XidEvent&)> on_xid;
};

class InventoryMonitor {
 public:
  // References must outlive the monitor. It does nothing before Start().
  InventoryMonitor(std::unique_ptr<DeviceSource> source, MonitorRules rules,
                   MonitorCallbacks callbacks, const Clock& clock, Logger& log,
                   metrics::DeviceMetrics& metrics);
  ~InventoryMonitor();

  void Start();
  void Stop();
  // Applies the rules from the next look on, which follows at once.
  void SetRules(MonitorRules rules);

  // Returns null before the first successful look.
  std::shared_ptr<const Picture> picture() const;
  std::map<std::string, DeviceUse> ReadUse() { return source_->ReadUse(); }
  // Returns an empty string if the last look succeeded.
  std::string source_error() const;
  // Returns when the last look ended, which reveals a hanging NVML call.
  Instant last_look() const;
  // Returns the longest time from the last look to the next one. New rules change it only once they
  // are in use.
  std::chrono::milliseconds pause() const;

 private:
  void Run(const std::stop_token& stop);
  void Look();
  void SeeEvents(const std::vector<XidEvent>& events);
  void SetSourceError(const std::string& error);
  void ReportNews(const Picture& before, const Picture& now);

  const std::unique_ptr<DeviceSource> source_;
  const MonitorCallbacks callbacks_;
  const Clock& clock_;
  Logger& log_;
  metrics::DeviceMetrics& metrics_;

  mutable std::mutex mutex_;
  std::chrono::milliseconds pause_;
  MonitorRules rules_;
  std::shared_ptr<const Picture> picture_;
  std::string source_error_ = "the GPUs have not been looked at yet";
  Instant last_look_;

  // Only the thread uses these.
  GpuHealthJudge judge_;
  std::jthread thread_;
};

}  // namespace synergy::deviceplugin
