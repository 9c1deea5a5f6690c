#pragma once

// A source of the node's GPUs: NVML, or a file.
//
// Threading: one thread calls Read and Wait; any thread may call ReadUse and Wake. Failures:
// kUnavailable if the GPUs cannot be used (the driver is gone). With any other code, they cannot be
// read at the moment, and the last reading stays valid.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/units.h"
#include "inventory/gpu.h"
#include "inventory/health.h"

namespace synergy::deviceplugin {

struct Reading {
  GpuInventory inventory;
  std::map<std::string, GpuProbe> probes;  // by UUID
  // The failures of GPUs that the driver counts but that were broken from the start, by index.
  // Nothing else is known about these GPUs.
  std::map<unsigned, std::string> unreachable;
  // Why the driver does not report a GPU's Xids, by UUID.
  std::map<std::string, std::string> without_events;
};

struct XidEvent {
  std::string uuid;  // empty: an unknown GPU
  uint64_t xid = 0;
  std::vector<std::string> mig_uuids;  // the only affected parts of the GPU; empty: all of it
};

// The present load of a GPU. Members are absent if the driver does not report them.
struct DeviceUse {
  std::optional<double> utilization;  // 0 to 1
  std::optional<Bytes> memory_used;
  std::optional<double> temperature;  // degrees Celsius
  std::optional<double> power;        // watts
};

class DeviceSource {
 public:
  virtual ~DeviceSource() = default;

  virtual Result<Reading> Read() = 0;
  // Blocks until something may have changed, Wake() was called, or `longest` has passed. Returns
  // the Xids that occurred.
  virtual std::vector<XidEvent> Wait(std::chrono::milliseconds longest,
                                     const std::stop_token& stop) = 0;
  virtual void Wake() = 0;
  virtual std::map<std::string, DeviceUse> ReadUse() = 0;
};

}  // namespace synergy::deviceplugin
