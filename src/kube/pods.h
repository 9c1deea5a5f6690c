#pragma once

// What the programs ask the API server, and tell it, about single pods.
//
// Threading: from any thread.
// Failures: as ApiClient says. A call that ends with kTimeout may have taken effect; GetPod tells.
// kConflict when the pod of that name is another one by now; kNotFound when it is gone.

#include <stop_token>
#include <string>

#include "cluster/pod.h"
#include "core/resources.h"
#include "core/result.h"
#include "json/objects.h"
#include "json/pod_writes.h"
#include "kube/api_client.h"

namespace synergy::kube {

// Which pod is meant.
struct PodIdentity {
  std::string pod_namespace;
  std::string name;
  std::string uid;
};
PodIdentity IdentityOf(const Pod& pod);

// kConflict also when the pod is bound already. `annotations` are set on the pod with it, at once.
Result<> BindPod(ApiClient& client, const PodIdentity& pod, const std::string& node,
                 const json::AnnotationChanges& annotations = {}, std::stop_token stop = {});

// With its requests as they count on a node.
Result<Pod> GetPod(ApiClient& client, const json::ObjectReader& reader,
                   const std::string& pod_namespace, const std::string& name,
                   std::stop_token stop = {});

// When a write is refused with kConflict.
enum class Precondition {
  kSamePod,    // if the pod of that name is another one by now
  kUnchanged,  // also if it has changed in any way after it was read (optimistic locking)
};

// Asks for `amounts` in place of what the pod's fungible container requests, as the field manager
// of annotations.h; gives the pod as it is then. kDenied or kInvalid when a quota, a limit range or
// a rule of resizing is against it. `pod.fungible` is not null.
Result<Pod> ResizePod(ApiClient& client, const json::ObjectReader& reader, const Pod& pod,
                      const ResourceVector& amounts,
                      Precondition precondition = Precondition::kSamePod,
                      std::stop_token stop = {});

Result<Pod> AnnotatePod(ApiClient& client, const json::ObjectReader& reader, const Pod& pod,
                        const json::AnnotationChanges& changes,
                        Precondition precondition = Precondition::kSamePod,
                        std::stop_token stop = {});

}  // namespace synergy::kube
