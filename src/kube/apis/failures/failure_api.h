#pragma once

// Reads and writes ConfigMaps with records of pods' failures, and reads ended pods and the owners
// of pods. Tests replace it with a simulated cluster.
//
// Threading: any thread. Failures: as in ApiClient. kConflict if the ConfigMap has changed since it
// was read, or already exists. kNotFound if the object is gone, or its owner is of an unsupported
// kind.

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "cluster/pod_failure.h"
#include "core/result.h"
#include "kube/api_client.h"
#include "wire/agents/failures.h"
#include "wire/objects/objects.h"

namespace synergy::kube {

class FailureApi {
 public:
  virtual ~FailureApi() = default;

  virtual Result<std::vector<FailureHistory>> ListHistories(std::stop_token stop) = 0;
  virtual Result<FailureHistory> ReadHistory(const std::string& of_namespace,
                                             std::stop_token stop) = 0;
  // Writes the records, and returns them as stored. Creates the ConfigMap if `history` has no
  // resource version.
  virtual Result<FailureHistory> WriteHistory(const FailureHistory& history,
                                              std::stop_token stop) = 0;
  // Deletes the ConfigMap. kConflict if it has changed.
  virtual Result<> RemoveHistory(const FailureHistory& history, std::stop_token stop) = 0;
  virtual Result<EndedPod> ReadPod(const std::string& pod_namespace, const std::string& name,
                                   std::stop_token stop) = 0;
  // Reads a Job, a JobSet or a RayCluster.
  virtual Result<wire::OwnerFacts> ReadOwner(const std::string& its_namespace,
                                             const ObjectOwner& owner, std::stop_token stop) = 0;
};

// `own_namespace`: the namespace of the ConfigMaps. The clients must outlive the result; `writing`
// refuses to write without the leader's lease.
std::unique_ptr<FailureApi> MakeFailureApi(ApiClient& reading, ApiClient& writing,
                                           wire::ObjectReader reader, std::string own_namespace);

}  // namespace synergy::kube
