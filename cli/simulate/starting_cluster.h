#pragma once

// The cluster that `synergy simulate` starts from: read from the API server with the user's own
// permissions, or from a file that holds an earlier read.
//
// Threading: values; reading makes calls one after another. Failures: as in kube::ApiClient;
// kInvalid names file, object and field.

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
  std::string pod_namespace;  // namespace of the trace's jobs

  // Returns the namespace's profile with this name; null if there is none.
  const ProfileObject* FindProfile(const std::string& name) const;
  Gpus gpus() const;
  // Returns how many nodes offer slices of GPUs, which gpus() does not include.
  size_t SharedNodes() const;
  // Returns the share of one GPU, over the whole cluster; kInvalid if no node has GPUs.
  Result<ResourceVector> FairShare() const;
};

// Returns everything as one Kubernetes List. Omits kinds other than nodes and pods if they cannot
// be listed; `notes` names these.
Result<std::string> ReadCluster(kube::ApiClient& client, std::vector<std::string>& notes);

// Parses such a List; `name` is its name in errors. Omits pods that have ended or are about to be
// deleted, and pods that wait for a scheduler other than that of `rules`.
Result<PresentCluster> ParseCluster(const std::string& text, const std::string& name,
                                    const wire::PodRules& rules);

}  // namespace synergy::cli
