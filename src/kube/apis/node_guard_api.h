#pragma once

// Writes the annotations that protect Nodes from scale-down. Tests replace it.
//
// This file is separate because only clusters with an autoscaler grant this write.
//
// Threading: any thread.
// Failures: as in ApiClient; kConflict if the node has changed since it was read.

#include <memory>
#include <stop_token>

#include "core/result.h"
#include "kube/api_client.h"
#include "wire/objects/node_guards.h"

namespace synergy::kube {

class NodeGuardApi {
 public:
  virtual ~NodeGuardApi() = default;

  // Writes as the field manager kFieldManager of annotations.h.
  virtual Result<> Write(const NodeGuardChange& change, std::stop_token stop) = 0;
};

// The client must outlive the result.
std::unique_ptr<NodeGuardApi> MakeNodeGuardApi(ApiClient& client);

}  // namespace synergy::kube
