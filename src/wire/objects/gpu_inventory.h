#pragma once

// The node annotation synergy.io/gpu-inventory: the GPUs of a node, their positions and links, and
// which are healthy. synergy-device-plugin writes it, and the extender reads it.
//
// Threading: pure. Failures: reading never trusts the text, whose size, depth and counts are
// bounded.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "inventory/advertisement.h"
#include "inventory/gpu.h"
#include "inventory/health.h"
#include "inventory/node_labels.h"

namespace synergy::wire {

inline constexpr std::string_view kGpuInventoryAnnotation = "synergy.io/gpu-inventory";
// The longest annotation. The API server accepts 256 KiB for all annotations of an object together.
inline constexpr size_t kLongestGpuInventory = size_t{200} << 10;

struct NodeGpus {
  GpuInventory inventory;
  std::vector<GpuHealth> health;          // one per GPU
  std::vector<std::string> owned_labels;  // labels of the node that the device plugin wrote
  int replicas = 0;                       // slices or turns of each GPU; 0: not shared
  bool in_turns = false;                  // `replicas` are turns

  bool operator==(const NodeGpus&) const = default;
};

// Returns equal text for equal values. Omits the reasons for bad health, because they change more
// often than scheduling needs.
std::string WriteGpuInventory(const NodeGpus& gpus);
// Returns kInvalid, which names the field. Ignores additions of newer versions.
Result<NodeGpus> ReadGpuInventory(std::string_view text);

// The parts of a Node object that programs read to place pods.
struct NodeGpuMetadata {
  NodeLabels labels;
  std::string gpu_inventory;  // the annotation's text; empty without one
};
Result<NodeGpuMetadata> ReadNodeGpuMetadata(std::string_view node);

// Returns a JSON merge patch of a Node: its labels and the annotation.
std::string WriteNodeGpuPatch(const NodeLabelChange& labels, std::string_view gpu_inventory);

// Returns a report for people and scripts: all data that the plugin has and would report to the
// kubelet. `unreachable`: the driver's indices of GPUs that cannot be identified, with the reasons.
std::string WriteGpuReport(const GpuInventory& inventory, const Advertisement& advertisement,
                           const std::map<unsigned, std::string>& unreachable = {});

// A CDI specification (cncf-tags/container-device-interface 0.5.0) with one device per entry.
struct CdiDevice {
  std::string name;
  std::vector<std::string> device_nodes;
};
std::string WriteCdiSpec(std::string_view kind, const std::vector<CdiDevice>& devices);
// Checks that another program's specification `text` has the same kind as `ours`, and all its
// devices.
Result<> CheckCdiSpec(std::string_view text, std::string_view ours);

}  // namespace synergy::wire
