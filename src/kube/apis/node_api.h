#pragma once

// Reads and writes the device plugin's own Node.
//
// Threading: any thread. Failures: as in ApiClient.
//
// This file is separate because each test replaces only one of these APIs.

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

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
  // Returns the names of the DRA drivers that offer devices of this node in ResourceSlices;
  // kNotFound if the API server does not serve them.
  virtual Result<std::vector<std::string>> ReadSliceDrivers(const std::string& node,
                                                            std::stop_token stop) = 0;
};

// The client must outlive the result.
std::unique_ptr<NodeApi> MakeNodeApi(ApiClient& client);

}  // namespace synergy::kube
