#pragma once

// Keeps a pod off nodes whose GPUs are of another product, by a node affinity: kube-scheduler then
// does not ask about them, and a cluster autoscaler knows which nodes to add.
//
// Threading: pure.

#include <string_view>

#include "json/document.h"
#include "json/json_patch.h"

namespace synergy::wire {

inline constexpr std::string_view kProductLabel = "nvidia.com/gpu.product";

// Nodes without the label stay: what they have is said by their GPU inventory, or by nobody. What
// the pod's author has said of the label stays as well.
void SetProductAffinity(json::JsonPatch& patch, json::Value spec, std::string_view product);

}  // namespace synergy::wire
