#pragma once

// The parts of its own Node that the device plugin reads and writes.
//
// Threading: from any thread. Failures: as in ApiClient.
//
// Apart because a test replaces one seam at a time.

#include <memory>
#include <stop_token>
#include <string>

#include "core/result.h"
#include "inventory/node_labels.h"
#include "kube/api_client.h"
#include "wire/objects/gpu_inventory.h"

namespace synergy::kube {

class NodeApi {
 public:
  virtual ~NodeApi() = default;

  virtual Result<wire::NodeGpuMetadata> ReadGpus(const std::string& node, std::stop_token stop) = 0;
  // Writes the labels and the annotation synergy.io/gpu-inventory in one request, and nothing else.
  virtual Result<> WriteGpus(const std::string& node, const NodeLabelChange& labels,
                             const std::string& gpu_inventory, std::stop_token stop) = 0;
};

// The client outlives the result.
std::unique_ptr<NodeApi> MakeNodeApi(ApiClient& client);

}  // namespace synergy::kube
