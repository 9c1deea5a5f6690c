#pragma once

// Stops the retries of jobs, and publishes which nodes jobs avoid. Tests replace it with a
// simulated cluster.
//
// Threading: any thread. Failures: as in ApiClient; kConflict if the object has changed since it
// was read, and kNotFound if it is gone or of a kind that cannot be read.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "cluster/pod_failure.h"
#include "core/result.h"
#include "kube/api_client.h"
#include "wire/agents/failures.h"
#include "wire/kueue/stoppable_job.h"

namespace synergy::kube {

class RetryApi {
 public:
  virtual ~RetryApi() = default;

  // Reads a Job or a JobSet.
  virtual Result<wire::StoppableJob> ReadJob(const std::string& its_namespace,
                                             const ObjectOwner& job, std::stop_token stop) = 0;
  // Returns the Workloads of the job with this UID.
  virtual Result<std::vector<wire::StoppableJob>> ReadWorkloads(const std::string& its_namespace,
                                                                const std::string& job_uid,
                                                                std::stop_token stop) = 0;
  // Return the annotation of Kueue's local queue, and that of the namespace.
  virtual Result<std::optional<std::string>> ReadQueue(const std::string& its_namespace,
                                                       const std::string& queue,
                                                       std::stop_token stop) = 0;
  virtual Result<std::optional<std::string>> ReadNamespace(const std::string& name,
                                                           std::stop_token stop) = 0;
  // Does what wire::WriteStop() describes.
  virtual Result<> Stop(const wire::StoppableJob& job, const std::string& decision,
                        std::stop_token stop) = 0;

  virtual Result<PublishedAvoidedNodes> ReadAvoidedNodes(std::stop_token stop) = 0;
  // Writes the nodes, and returns them as stored. Creates the ConfigMap if `avoided` has no
  // resource version; then returns kConflict if it exists.
  virtual Result<PublishedAvoidedNodes> WriteAvoidedNodes(const PublishedAvoidedNodes& avoided,
                                                          std::stop_token stop) = 0;
};

// `own_namespace`: the namespace of the ConfigMap. The clients must outlive the result; `writing`
// refuses to write without the leader's lease.
std::unique_ptr<RetryApi> MakeRetryApi(ApiClient& reading, ApiClient& writing,
                                       const std::string& own_namespace);

}  // namespace synergy::kube
