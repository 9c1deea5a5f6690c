#pragma once

// What the extender asks the API server about single pods.
//
// Threading: from any thread.
// Failures: as ApiClient says. A Binding that ends with kTimeout may have been made; GetPod
// tells.

#include <stop_token>
#include <string>

#include "cluster/pod.h"
#include "core/result.h"
#include "json/objects.h"
#include "kube/api_client.h"

namespace synergy::kube {

// kConflict when the pod is bound already or is another one by now; kNotFound when it is gone.
Result<> BindPod(ApiClient& client, const std::string& pod_namespace, const std::string& name,
                 const std::string& uid, const std::string& node, std::stop_token stop = {});

// With its requests as they count on a node.
Result<Pod> GetPod(ApiClient& client, const json::ObjectReader& reader,
                   const std::string& pod_namespace, const std::string& name,
                   std::stop_token stop = {});

}  // namespace synergy::kube
