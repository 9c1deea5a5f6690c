#pragma once

// Evictions of pods, by the API that keeps PodDisruptionBudgets (policy/v1): the seam at which
// tests put a cluster of their own.
//
// Threading: from any thread.
// Failures: as ApiClient says. kOverloaded when a budget is against it; kConflict when the pod of
// that name is another one by now; kNotFound when it is gone.

#include <memory>
#include <stop_token>

#include "core/result.h"
#include "kube/api_client.h"
#include "kube/apis/pod_api.h"

namespace synergy::kube {

class EvictionApi {
 public:
  virtual ~EvictionApi() = default;

  // Whether it would be allowed as things are; nothing is done.
  virtual Result<> TryEvict(const PodIdentity& pod, std::stop_token stop) = 0;
  // The pod has its grace period from then on.
  virtual Result<> Evict(const PodIdentity& pod, std::stop_token stop) = 0;
};

// The client outlives it.
std::unique_ptr<EvictionApi> MakeEvictionApi(ApiClient& client);

}  // namespace synergy::kube
