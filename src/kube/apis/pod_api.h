#pragma once

// What the programs ask the API server, and tell it, about single pods: the seam at which tests put
// a cluster of their own.
//
// Threading: from any thread.
// Failures: as ApiClient says. A call that ends with kTimeout, or with kCancelled because of its
// `stop`, may have taken effect, or take it later; Get tells.
// kConflict when the pod of that name is another one by now; kNotFound when it is gone.

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

// Which pod is meant.
struct PodIdentity {
  std::string pod_namespace;
  std::string name;
  std::string uid;
};
inline PodIdentity IdentityOf(const Pod& pod) { return {pod.pod_namespace, pod.name, pod.uid}; }

using wire::AnnotationChanges;
using wire::Resized;

// When a write is refused with kConflict.
enum class Precondition {
  kSamePod,    // if the pod of that name is another one by now
  kUnchanged,  // also if it has changed in any way after it was read (optimistic locking)
};

// "/api/v1/namespaces/team/pods/train-0"
std::string PodPath(const std::string& pod_namespace, const std::string& name);

class PodApi {
 public:
  virtual ~PodApi() = default;

  // With its requests as they count on a node.
  virtual Result<Pod> Get(const std::string& pod_namespace, const std::string& name,
                          std::stop_token stop = {}) = 0;
  // kConflict also when the pod is bound already, or has changed after the resource version
  // `unchanged_since`, unless that is 0. `annotations` are set with it, at once.
  virtual Result<> Bind(const PodIdentity& pod, const std::string& node,
                        const AnnotationChanges& annotations, uint64_t unchanged_since = 0,
                        std::stop_token stop = {}) = 0;
  // Asks for `amounts`, or the one of them that `resized` says, in place of what the pod's fungible
  // container requests, as the field manager of annotations.h; gives the pod as it is then. kDenied
  // or kInvalid when a quota, a limit range or a rule of resizing is against it. `pod.fungible` is
  // not null.
  virtual Result<Pod> Resize(const Pod& pod, const ResourceVector& amounts,
                             Precondition precondition = Precondition::kSamePod,
                             Resized resized = Resized::kBoth, std::stop_token stop = {}) = 0;
  // As the same field manager.
  virtual Result<Pod> Annotate(const Pod& pod, const AnnotationChanges& changes,
                               Precondition precondition = Precondition::kSamePod,
                               std::stop_token stop = {}) = 0;
};

// Over HTTP. The client outlives it.
std::unique_ptr<PodApi> MakePodApi(ApiClient& client, wire::ObjectReader reader);

// Annotates a pod by way of its status, with no right to change anything but that: of the pod's
// spec, its owners and its deletion the API server takes nothing there, of its metadata it does
// (tried). As the field manager that the client's user agent says.
Result<> AnnotateByStatus(ApiClient& client, const PodIdentity& pod,
                          const AnnotationChanges& changes, const std::stop_token& stop);

}  // namespace synergy::kube
