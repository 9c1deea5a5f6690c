#pragma once

// Reads GPUs from NVIDIA's driver (NVML), and Xids from its event set.
//
// Threading: the same as DeviceSource; any thread may call NVML itself. Failures: without the
// library or the driver, every Read returns kUnavailable and tries again. A GPU that fails or
// disappears stays in the readings as it was last read, with a descriptive fault, until the program
// ends. Its UUID may come back, and its failure must not affect other GPUs. An unhealthy GPU
// triggers a new session, first at once and then at growing intervals, because a new session misses
// events of the other GPUs.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "core/backoff.h"
#include "core/clock.h"
#include "deviceplugin/sources/device_source.h"
#include "deviceplugin/sources/nvml_api.h"

namespace synergy::deviceplugin {

struct NvmlOptions {
  std::string library = "libnvidia-ml.so.1";
  // Where the kernel lists PCI devices with their NUMA nodes, and where device files are.
  std::string pci_folder = "/sys/bus/pci/devices";
  std::string device_folder = "/dev";
  // Where the driver lists which files of device_folder/nvidia-caps belong to a MIG device.
  std::string mig_minors = "/proc/driver/nvidia-caps/mig-minors";
};

class NvmlSource final : public DeviceSource {
 public:
  NvmlSource(NvmlOptions options, const Clock& clock);
  ~NvmlSource() override;

  Result<Reading> Read() override;
  std::vector<XidEvent> Wait(std::chrono::milliseconds longest,
                             const std::stop_token& stop) override;
  void Wake() override { woken_ = true; }
  std::map<std::string, DeviceUse> ReadUse() override;

 private:
  // One nvmlInit, its event set, and everything that was read through it.
  class Session;

  // Returns the present session, or a new one.
  Result<std::shared_ptr<Session>> Open();
  void Close();

  const NvmlOptions options_;
  const Clock& clock_;
  std::atomic<bool> woken_ = false;

  std::mutex mutex_;
  std::shared_ptr<Session> session_;

  // Returns `reading` with the last good reading of each GPU that fails or has disappeared.
  Reading WithKnown(Reading reading);

  // Only the reading thread uses these.
  GpuInventory known_;
  std::map<std::string, unsigned> indices_;  // NVML's indices of the known GPUs
  std::set<std::string> unwell_;             // known GPUs, at the last look
  bool start_anew_ = false;                  // a new session may fix a failure
  Backoff between_sessions_;
  Instant next_session_{};
};

}  // namespace synergy::deviceplugin
