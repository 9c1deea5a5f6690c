#pragma once

// The cluster that `synergy simulate` starts from: read from the API server with the user's own
// rights, or from a file with what was read then.
//
// Threading: values; reading makes calls one after the other.
// Failures: as kube::ApiClient says; kInvalid names file, object and field.

#include <string>
#include <vector>

#include "cli/cluster/cluster_connection.h"
#include "core/resources.h"
#include "core/result.h"
#include "kube/api_client.h"
#include "profile/profile_object.h"
#include "sim/cluster/product_simulator.h"
#include "wire/objects/objects.h"

namespace synergy::cli {

struct PresentCluster {
  StartingCluster start;
  std::vector<ProfileObject> profiles;
  std::string pod_namespace;  // of the trace's jobs

  // Of the namespace; null where it has none of that name.
  const ProfileObject* FindProfile(const std::string& name) const;
  Gpus gpus() const;
  // What belongs to one GPU, wherever it is. kInvalid where no node has GPUs.
  Result<ResourceVector> FairShare() const;
};

// Everything as one Kubernetes List. What the user may not list beside nodes and pods is left out,
// and said in `notes`.
Result<std::string> ReadCluster(kube::ApiClient& client, std::vector<std::string>& notes);

// `text` is such a List, `name` stands for it in errors. Pods that have ended or are about to go
// are left out, and those that wait for another scheduler than that of `rules`.
Result<PresentCluster> ParseCluster(const std::string& text, const std::string& name,
                                    const wire::PodRules& rules);

}  // namespace synergy::cli
