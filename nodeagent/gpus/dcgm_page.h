#pragma once

// Parses the page of NVIDIA's DCGM exporter (https://github.com/NVIDIA/dcgm-exporter), which has
// the figures of each GPU and each MIG instance.
//
//   metric                          of                unit
//   DCGM_FI_PROF_GR_ENGINE_ACTIVE   both              ratio over the exporter's interval
//   DCGM_FI_DEV_GPU_UTIL            GPUs              percent of the last moments
//   DCGM_FI_DEV_FB_USED, _FB_FREE   both              MiB
//   DCGM_FI_DEV_POWER_USAGE         GPUs              watts
//   DCGM_FI_DEV_GPU_TEMP            GPUs              degrees Celsius
//   DCGM_FI_DEV_XID_ERRORS          GPUs              the last Xid, not a count
//
// The exporter refreshes the figures at its own interval (30 s by default) and repeats them in
// between.
//
// Threading: pure.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/units.h"

namespace synergy::nodeagent {

inline constexpr size_t kMostDcgmDevices = 1024;

struct DcgmDevice {
  std::string uuid;      // the GPU's
  std::string device;    // "nvidia0"
  std::string product;   // "NVIDIA A100-SXM4-80GB"
  std::string pci_id;    // "00000000:3B:00.0"
  std::string instance;  // the number of a MIG instance; empty: the whole GPU
  std::string profile;   // the profile of a MIG instance: "1g.5gb"
  // The container to which the exporter attributes the device, as a hint.
  std::string pod_namespace;
  std::string pod;
  std::string container;
  std::optional<double> utilization;  // 0 to 1
  std::optional<Bytes> memory_used;
  std::optional<Bytes> memory_free;
  std::optional<double> power;
  std::optional<double> temperature;
  std::optional<uint64_t> last_xid;  // 0: none yet

  bool IsInstance() const { return !instance.empty(); }
  // Returns a name for the device that is unique on this node.
  std::string Key() const { return IsInstance() ? uuid + "/" + instance : uuid; }
  bool operator==(const DcgmDevice&) const = default;
};

// Returns the devices in the order of their keys; kInvalid if the page has no DCGM figures, and
// kTooLarge if it has too many devices. Ignores lines that are not samples, and figures that are
// out of range.
Result<std::vector<DcgmDevice>> ReadDcgmPage(std::string_view page);

}  // namespace synergy::nodeagent
