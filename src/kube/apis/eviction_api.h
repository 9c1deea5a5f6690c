#pragma once

// Evictions of pods by the API that respects PodDisruptionBudgets (policy/v1). Tests replace it
// with a cluster of their own.
//
// Threading: from any thread.
// Failures: as in ApiClient. kOverloaded if a budget forbids it; kConflict if the name now belongs
// to another pod; kNotFound if the pod is gone.

#include <memory>
#include <stop_token>

#include "core/result.h"
#include "kube/api_client.h"
#include "kube/apis/pod_api.h"

namespace synergy::kube {

class EvictionApi {
 public:
  virtual ~EvictionApi() = default;

  // Whether the eviction would be allowed now; does nothing.
  virtual Result<> TryEvict(const PodIdentity& pod, std::stop_token stop) = 0;
  // Starts the pod's grace period.
  virtual Result<> Evict(const PodIdentity& pod, std::stop_token stop) = 0;
};

// The client outlives the result.
std::unique_ptr<EvictionApi> MakeEvictionApi(ApiClient& client);

}  // namespace synergy::kube
