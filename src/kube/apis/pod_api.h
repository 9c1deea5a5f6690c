#pragma once

// Reads and writes single pods on the API server. Tests replace it with a simulated cluster.
//
// Threading: any thread. Failures: as in ApiClient. A call that ends with kTimeout, or with
// kCancelled because of its `stop`, may have taken effect or may do so later; Get() shows whether
// it did. Calls return kConflict if the name now belongs to another pod, and kNotFound if the pod
// is gone.

#include <memory>
#include <stop_token>
#include <string>

#include "cluster/pod.h"
#include "core/resources.h"
#include "core/result.h"
#include "kube/api_client.h"
#include "wire/objects/objects.h"
#include "wire/pods/pod_writes.h"

namespace synergy::kube {

// Identifies a pod.
struct PodIdentity {
  std::string pod_namespace;
  std::string name;
  std::string uid;
};
inline PodIdentity IdentityOf(const Pod& pod) { return {pod.pod_namespace, pod.name, pod.uid}; }

using wire::AnnotationChanges;
using wire::Resized;

// When to refuse a write with kConflict.
enum class Precondition {
  kSamePod,    // if the name now belongs to another pod
  kUnchanged,  // also if the pod has changed since it was read (optimistic locking)
};

// Returns a path such as "/api/v1/namespaces/team/pods/train-0".
std::string PodPath(const std::string& pod_namespace, const std::string& name);

class PodApi {
 public:
  virtual ~PodApi() = default;

  // Returns the pod with the requests that count on its node.
  virtual Result<Pod> Get(const std::string& pod_namespace, const std::string& name,
                          std::stop_token stop = {}) = 0;
  // Also returns kConflict if the pod is already bound, or has changed since the resource version
  // `unchanged_since`, unless that is 0. The binding also sets the `annotations`.
  virtual Result<> Bind(const PodIdentity& pod, const std::string& node,
                        const AnnotationChanges& annotations, uint64_t unchanged_since = 0,
                        std::stop_token stop = {}) = 0;
  // Replaces the requests of the pod's fungible container with `amounts`, or only the request that
  // `resized` names, as the field manager kFieldManager of annotations.h. Returns the changed pod;
  // kDenied or kInvalid if a quota, a limit range or a rule of resizing forbids the change.
  // REQUIRES: `pod.fungible` is not null.
  virtual Result<Pod> Resize(const Pod& pod, const ResourceVector& amounts,
                             Precondition precondition = Precondition::kSamePod,
                             Resized resized = Resized::kBoth, std::stop_token stop = {}) = 0;
  // Changes annotations as the same field manager.
  virtual Result<Pod> Annotate(const Pod& pod, const AnnotationChanges& changes,
                               Precondition precondition = Precondition::kSamePod,
                               std::stop_token stop = {}) = 0;
};

// Returns an implementation over HTTP. The client must outlive the result.
std::unique_ptr<PodApi> MakePodApi(ApiClient& client, wire::ObjectReader reader);

// Annotates a pod through its status subresource, for the node agent, which may patch only
// pods/status. In such a patch, the API server ignores changes of the pod's spec, owners and
// deletion, but applies those of other metadata. The field manager is the client's user agent.
Result<> AnnotateByStatus(ApiClient& client, const PodIdentity& pod,
                          const AnnotationChanges& changes, const std::stop_token& stop);

// Evicts pods through the API that respects PodDisruptionBudgets (policy/v1). Failures: kOverloaded
// if a budget forbids it; kConflict if the name now belongs to another pod; kNotFound if the pod is
// gone.
class EvictionApi {
 public:
  virtual ~EvictionApi() = default;

  // Checks whether the eviction would be allowed now; changes nothing.
  virtual Result<> TryEvict(const PodIdentity& pod, std::stop_token stop) = 0;
  // Starts the pod's grace period.
  virtual Result<> Evict(const PodIdentity& pod, std::stop_token stop) = 0;
};

// The client must outlive the result.
std::unique_ptr<EvictionApi> MakeEvictionApi(ApiClient& client);

}  // namespace synergy::kube
