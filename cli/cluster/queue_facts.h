#pragma once

// Reads Kueue's queues and the RoundPolicies that order them, with the user's own rights. It omits
// objects that those rights do not cover, and lists the omissions in `notes`.
//
// Threading: values; the functions make calls one after another. Failures: as in kube::ApiClient,
// for the workloads, without which there is nothing to show.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/result.h"
#include "kube/api_client.h"
#include "queues/kueue.h"
#include "queues/round_policy.h"
#include "wire/objects/objects.h"

namespace synergy::cli {

struct QueueFacts {
  std::vector<RoundPolicy> policies;
  std::vector<ClusterQueue> cluster_queues;
  std::vector<LocalQueue> local_queues;
  std::vector<Workload> workloads;
  std::vector<QueuedPod> pods;
  bool all_namespaces = true;  // false: workloads of only one, so no place in a queue is known
  std::vector<std::string> notes;
};

// Reads all namespaces, or only `own_namespace` if the user may not see the others.
Result<QueueFacts> ReadQueues(kube::ApiClient& client, const wire::ObjectReader& reader,
                              const std::string& own_namespace);
// Reads the queues that RoundPolicies order. If there is no policy, or none that is visible to the
// user, it reads nothing else.
Result<QueueFacts> ReadOrderedQueues(kube::ApiClient& client, const wire::ObjectReader& reader,
                                     const std::string& own_namespace);

// Returns the keys of the Workloads with these labels. Reads all namespaces, or only
// `own_namespace` if the user may not see the others.
Result<std::set<std::string>> SelectWorkloads(kube::ApiClient& client,
                                              const wire::ObjectReader& reader,
                                              const QueueFacts& facts,
                                              const std::string& own_namespace,
                                              const std::string& labels);

// Reads the TrainJob that owns a Workload; nullopt if the owner is of another kind, or gone.
Result<std::optional<QueuedJob>> ReadTrainJob(kube::ApiClient& client,
                                              const wire::ObjectReader& reader,
                                              const Workload& workload);

}  // namespace synergy::cli
