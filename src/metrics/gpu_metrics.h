#pragma once

// The metrics of GPUs, from the program that knows them: synergy-device-plugin where it offers
// them, synergy-node-agent elsewhere.
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
  // No value if nothing reports it, here and below.
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
  std::string uuid;      // the GPU's
  std::string mig_uuid;  // of its part, if one is given
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
