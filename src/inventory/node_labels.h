#pragma once

// Determines the labels of this program's Node, named as in NVIDIA's GPU feature discovery, and
// which of them the program owns. A label that another program or a user set, earlier or later,
// stays as it is.
//
// Threading: pure.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/gpu.h"

namespace synergy {

// The number of slices of each GPU. NVIDIA's device plugin also sets it.
inline constexpr std::string_view kReplicasLabel = "nvidia.com/gpu.replicas";

using NodeLabels = std::map<std::string, std::string, std::less<>>;

// Converts to a valid label value: "NVIDIA A100-SXM4-80GB" -> "NVIDIA-A100-SXM4-80GB".
std::string ToLabelValue(std::string_view text);

// Returns the labels to set. A node with several products gets the labels of its first GPU's
// product, as in GPU feature discovery. `replicas`: the number of slices of each GPU, or of turns
// if `in_turns`; 0: GPUs are not shared.
NodeLabels DesiredNodeLabels(const GpuInventory& inventory, int replicas = 0,
                             bool in_turns = false);

struct NodeLabelChange {
  // Labels to set, or to remove if they have no value.
  std::map<std::string, std::optional<std::string>, std::less<>> changes;
  // The names of the labels that the program owns from now on, sorted.
  std::vector<std::string> owned;
};

// `written`: what the program last wrote.
NodeLabelChange PlanNodeLabels(const NodeLabels& desired, const NodeLabels& present,
                               const NodeLabels& written);

}  // namespace synergy
