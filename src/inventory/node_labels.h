#pragma once

// Labels of the own Node, in the names of NVIDIA's GPU feature discovery, and which of them are
// ours to write: a label that somebody else has set, before us or after, stays as it is.
//
// Threading: pure.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inventory/gpu.h"

namespace synergy {

using NodeLabels = std::map<std::string, std::string, std::less<>>;

// "NVIDIA A100-SXM4-80GB" -> "NVIDIA-A100-SXM4-80GB": what a label's value may hold.
std::string ToLabelValue(std::string_view text);

// What the labels should be. Those of one product are of the first GPU; a node with several has
// them all the same, as GPU feature discovery does it.
NodeLabels DesiredNodeLabels(const GpuInventory& inventory);

struct NodeLabelChange {
  // To set, or to remove where there is no value.
  std::map<std::string, std::optional<std::string>, std::less<>> changes;
  // Names that are ours from now on, in order.
  std::vector<std::string> owned;
};

// `written` is what we wrote last.
NodeLabelChange PlanNodeLabels(const NodeLabels& desired, const NodeLabels& present,
                               const NodeLabels& written);

}  // namespace synergy
