#pragma once

// Turns the jobs that a cluster has run into a trace for its own servers: `simulate --from-cluster
// --since 7d`. Reads with the user's own kubeconfig and rights, and changes nothing.
//
// Threading: one caller; it makes one call after another. Failures: as in kube::ApiClient;
// kNotFound if no job is left, or no node has GPUs.

#include <cstdint>
#include <string>
#include <vector>

#include "cli/simulate/history/kubernetes_trace.h"
#include "core/resources.h"
#include "core/result.h"
#include "kube/api_client.h"
#include "sim/traces/recorded_trace.h"
#include "wire/objects/objects.h"

namespace synergy::cli {

struct ClusterHistory {
  RecordedTrace trace;
  // The cluster's GPUs as servers of its most common shape.
  ResourceVector server;
  int64_t servers = 0;
  std::vector<std::string> notes;
};

// Sets the servers from the nodes with GPUs, and adds a note if these have several shapes. Returns
// kNotFound if no node has GPUs.
Result<> SetServers(const std::vector<Node>& nodes, ClusterHistory& history);

Result<ClusterHistory> ReadHistory(kube::ApiClient& client, const wire::ObjectReader& reader,
                                   const KubernetesTrace::Period& period);

}  // namespace synergy::cli
