#pragma once

// What is read of Kueue's queues and of what orders them, with the user's own rights: what those do
// not allow is left out and said in `notes`.
//
// Threading: values; the function makes calls one after the other.
// Failures: as kube::ApiClient says, for the workloads, without which there is nothing to tell.

#include <optional>
#include <string>
#include <vector>

#include "core/result.h"
#include "kube/api_client.h"
#include "queues/kueue.h"
#include "queues/queued_job.h"
#include "queues/round_policy.h"
#include "wire/objects/objects.h"

namespace synergy::cli {

struct QueueFacts {
  std::vector<RoundPolicy> policies;
  std::vector<ClusterQueue> cluster_queues;
  std::vector<LocalQueue> local_queues;
  std::vector<Workload> workloads;
  std::vector<QueuedPod> pods;
  bool all_namespaces = true;  // false: workloads of one only, so that nobody's place is known
  std::vector<std::string> notes;
};

// Of all namespaces, or of `own_namespace` where no more may be seen.
Result<QueueFacts> ReadQueues(kube::ApiClient& client, const wire::ObjectReader& reader,
                              const std::string& own_namespace);
// What RoundPolicies order: where there is none, or none may be seen, nothing else is read.
Result<QueueFacts> ReadOrderedQueues(kube::ApiClient& client, const wire::ObjectReader& reader,
                                     const std::string& own_namespace);

// Reads the TrainJob that a Workload is of; none: it is of something else, or gone.
Result<std::optional<QueuedJob>> ReadTrainJob(kube::ApiClient& client,
                                              const wire::ObjectReader& reader,
                                              const Workload& workload);

}  // namespace synergy::cli
