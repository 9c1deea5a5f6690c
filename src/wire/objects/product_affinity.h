#pragma once

// Keeps a pod off nodes whose GPUs are of another product, through a node affinity. So
// kube-scheduler ignores those nodes, and a cluster autoscaler can determine which nodes to add.
//
// Threading: pure.

#include <string_view>

#include "inventory/gpu_labels.h"
#include "json/document.h"
#include "json/json_patch.h"

namespace synergy::wire {

// Nodes without the label remain candidates, because only their GPU inventory, if any, shows their
// product. Conditions of the pod's author on the label also remain.
void SetProductAffinity(json::JsonPatch& patch, json::Value spec, std::string_view product);

}  // namespace synergy::wire
