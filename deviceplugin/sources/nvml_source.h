#pragma once

// GPUs as NVIDIA's driver tells them (NVML), with its event set for Xids.
//
// Threading: as DeviceSource says; NVML itself may be called from any thread.
// Failures: without the library or the driver every Read is kUnavailable and tries anew. A GPU that
// was seen once and is not there any more stays, with a fault that says so, until the program ends:
// its UUID may come back. For the sake of a GPU that is not well a new session is begun, at once
// and then less and less often, because what happens to the others meanwhile is missed.

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
  // Where the kernel tells of PCI devices' NUMA nodes, and where device files are.
  std::string pci_folder = "/sys/bus/pci/devices";
  std::string device_folder = "/dev";
  // Where the driver tells which files of device_folder/nvidia-caps are a MIG device's.
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
  // One nvmlInit, its event set and all that was learned through it.
  class Session;

  // The present session, or a new one.
  Result<std::shared_ptr<Session>> Open();
  void Close();

  const NvmlOptions options_;
  const Clock& clock_;
  std::atomic<bool> woken_ = false;

  std::mutex mutex_;
  std::shared_ptr<Session> session_;

  // `reading`, and the GPUs that were there before.
  Reading WithMissing(Reading reading);

  // The reading thread's own.
  GpuInventory known_;
  std::map<std::string, unsigned> indices_;  // NVML's, of the GPUs that are known
  std::set<std::string> unwell_;             // of them, at the last look
  bool start_anew_ = false;                  // something failed that a new session may cure
  Backoff between_sessions_;
  Instant next_session_{};
};

}  // namespace synergy::deviceplugin
