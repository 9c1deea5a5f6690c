#pragma once

// The node annotation synergy.io/gpu-inventory: which GPUs a node has, where they sit, how they are
// linked and which are healthy. synergy-device-plugin writes it, the extender reads it.
//
// Threading: pure. Failures: reading never trusts the text; its size, depth and counts are bounded.

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
// Of all annotations of an object together, the API server accepts 256 KiB.
inline constexpr size_t kLongestGpuInventory = size_t{200} << 10;

struct NodeGpus {
  GpuInventory inventory;
  std::vector<GpuHealth> health;          // of each GPU
  std::vector<std::string> owned_labels;  // of the node, written by the device plugin

  bool operator==(const NodeGpus&) const = default;
};

// The same text for the same value. Reasons are left out: they change more often than anybody who
// schedules needs to know.
std::string WriteGpuInventory(const NodeGpus& gpus);
// kInvalid, naming the field. What a newer version has added is passed over.
Result<NodeGpus> ReadGpuInventory(std::string_view text);

// What a program that places pods reads of a Node object.
struct NodeGpuMetadata {
  NodeLabels labels;
  std::string gpu_inventory;  // the annotation's text; empty without one
};
Result<NodeGpuMetadata> ReadNodeGpuMetadata(std::string_view node);

// A JSON merge patch of a Node: labels, and the annotation.
std::string WriteNodeGpuPatch(const NodeLabelChange& labels, std::string_view gpu_inventory);

// For people and scripts: everything that the plugin knows and would tell the kubelet.
// `unreachable` are GPUs of which there is no more than the driver's index, with why.
std::string WriteGpuReport(const GpuInventory& inventory, const Advertisement& advertisement,
                           const std::map<unsigned, std::string>& unreachable = {});

// A CDI specification (cncf-tags/container-device-interface 0.5.0) with one device per entry.
struct CdiDevice {
  std::string name;
  std::vector<std::string> device_nodes;
};
std::string WriteCdiSpec(std::string_view kind, const std::vector<CdiDevice>& devices);
// That somebody else's specification `text` is of the same kind as ours and has all its devices.
Result<> CheckCdiSpec(std::string_view text, std::string_view ours);

}  // namespace synergy::wire
