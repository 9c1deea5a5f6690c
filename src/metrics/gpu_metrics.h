#pragma once

// The metrics of GPUs, from the program that can read them: synergy-device-plugin if it offers the
// GPUs, otherwise synergy-node-agent.
//
// Threading: values.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units.h"

namespace synergy::metrics {

struct GpuGauge {
  std::string uuid;
  std::string product;
  std::string pci_id;
  // Absent, like the values below, if no component reports it.
  std::optional<bool> healthy;
  std::optional<Bytes> memory;
  std::optional<double> utilization;  // 0 to 1
  std::optional<Bytes> memory_used;
  std::optional<double> temperature;  // degrees Celsius
  std::optional<double> power;        // watts
  std::optional<uint64_t> last_xid;   // 0: none yet
};

struct AllocatedGpu {
  std::string resource;
  std::string uuid;      // of the GPU
  std::string mig_uuid;  // of the MIG device; empty: the whole GPU
  std::string pod_namespace;
  std::string pod;
  std::string container;
  std::optional<double> utilization;  // 0 to 1
  std::optional<Bytes> memory_used;
};

struct GpuGauges {
  std::string node;  // empty: unknown
  std::vector<GpuGauge> gpus;
  std::vector<AllocatedGpu> allocated;
};

}  // namespace synergy::metrics
