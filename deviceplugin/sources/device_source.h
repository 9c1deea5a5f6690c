#pragma once

// Where the node's GPUs are seen: NVML, or a file.
//
// Threading: Read and Wait by one thread; ReadUse and Wake from any.
// Failures: kUnavailable when the GPUs cannot be used (the driver is gone); any other code when it
// cannot be told what they are just now, and what was read before still holds.

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
  // GPUs that the driver counts and nobody knows, for they were dead from the start: why, by index.
  std::map<unsigned, std::string> unreachable;
  // GPUs whose Xids the driver does not report: why, by UUID.
  std::map<std::string, std::string> without_events;
};

struct XidEvent {
  std::string uuid;  // empty: of some GPU, it is not known which
  uint64_t xid = 0;
  std::vector<std::string> mig_uuids;  // of these parts of the GPU alone; empty: of all of it
};

// What a GPU is doing; without a value where the driver does not say.
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
  // Until something may have changed, Wake() was called or `longest` is over. What happened.
  virtual std::vector<XidEvent> Wait(std::chrono::milliseconds longest,
                                     const std::stop_token& stop) = 0;
  virtual void Wake() = 0;
  virtual std::map<std::string, DeviceUse> ReadUse() = 0;
};

}  // namespace synergy::deviceplugin
