#pragma once

// What the device plugin reads and writes of its own Node.
//
// Threading: from any thread. Failures: as ApiClient says.

#include <stop_token>
#include <string>

#include "core/result.h"
#include "inventory/node_labels.h"
#include "json/gpu_inventory.h"
#include "kube/api_client.h"

namespace synergy::kube {

Result<json::NodeGpuMetadata> GetNodeGpuMetadata(ApiClient& client, const std::string& node,
                                                 std::stop_token stop = {});

// Labels and the annotation synergy.io/gpu-inventory in one patch; nothing else is touched.
Result<> PatchNodeGpus(ApiClient& client, const std::string& node,
                       const inventory::LabelChange& labels, const std::string& gpu_inventory,
                       std::stop_token stop = {});

}  // namespace synergy::kube
