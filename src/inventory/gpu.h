#pragma once

// The GPUs of one node: their properties, positions and links.
//
// Threading: values. Ownership: an Inventory holds everything by value; a Link is addressed by the
// positions of its two GPUs.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/units.h"

namespace synergy {

// The NUMA node is unknown.
inline constexpr int kNoNuma = -1;
// The kubelet refuses longer device ids (its device manager keeps them in label-sized names).
inline constexpr size_t kLongestDeviceId = 63;
// More than any machine has; bounds the cost of an inventory from outside.
inline constexpr size_t kMostGpusOfNode = 64;
inline constexpr size_t kMostMigDevicesPerGpu = 16;

// How two GPUs reach each other without NVLink, worst first (NVML's common ancestors).
enum class PciPath {
  kSystem,            // over the link between processors
  kNode,              // between the host bridges of one NUMA node
  kHostBridge,        // through one host bridge
  kMultipleSwitches,  // through several PCIe switches
  kSingleSwitch,      // through one PCIe switch
  kSameBoard,
};
inline constexpr PciPath kPciPaths[] = {PciPath::kSystem,       PciPath::kNode,
                                        PciPath::kHostBridge,   PciPath::kMultipleSwitches,
                                        PciPath::kSingleSwitch, PciPath::kSameBoard};
std::string_view ToString(PciPath path);
Result<PciPath> ParsePciPath(std::string_view text);

struct GpuLink {
  PciPath path = PciPath::kSystem;
  int nvlinks = 0;  // NVLink connections between the two, direct or through NVSwitch

  bool operator==(const GpuLink&) const = default;
};

// Returns roughly the link's bandwidth per direction in GB/s, which preferred allocation sums up.
int Worth(const GpuLink& link);

// A part of a GPU in MIG mode.
struct MigDevice {
  std::string uuid;
  std::string profile;  // "1g.5gb"
  Bytes memory;
  std::vector<std::string> device_nodes;  // besides the GPU's: "/dev/nvidia-caps/nvidia-cap12"

  bool operator==(const MigDevice&) const = default;
};

struct ComputeCapability {
  int major = 0;
  int minor = 0;

  bool operator==(const ComputeCapability&) const = default;
};
// The format is "8.0"; Parse returns nullopt for any other form.
std::string ToText(const ComputeCapability& capability);
std::optional<ComputeCapability> ParseComputeCapability(std::string_view text);

struct Gpu {
  std::string uuid;
  std::string product;  // the driver's name: "NVIDIA A100-SXM4-80GB"
  Bytes memory;
  int numa_node = kNoNuma;
  std::string pci_id;  // "0000:3b:00.0"; empty if unknown
  std::optional<ComputeCapability> compute_capability;
  std::vector<std::string> device_nodes;  // of this GPU only: "/dev/nvidia0"
  bool mig_capable = false;
  bool mig_enabled = false;
  std::vector<MigDevice> mig_devices;

  bool operator==(const Gpu&) const = default;
};

class GpuInventory {
 public:
  GpuInventory() = default;
  // Gives every pair the path that its NUMA nodes suggest.
  explicit GpuInventory(std::vector<Gpu> gpus);

  const std::vector<Gpu>& gpus() const { return gpus_; }
  const GpuLink& link(size_t a, size_t b) const { return links_[a * gpus_.size() + b]; }
  // Sets the link in both directions.
  void SetLink(size_t a, size_t b, const GpuLink& link);
  // Returns the position of the GPU with this UUID.
  std::optional<size_t> Find(std::string_view uuid) const;

  std::string driver_version;  // empty if unknown
  std::string cuda_version;    // "12.4"
  // Nodes that every container with a GPU needs: "/dev/nvidiactl".
  std::vector<std::string> shared_device_nodes;

  bool operator==(const GpuInventory&) const = default;

 private:
  std::vector<Gpu> gpus_;
  std::vector<GpuLink> links_;  // square, row by row
};

}  // namespace synergy
