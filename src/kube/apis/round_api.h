#pragma once

// Writes the controller's decisions about job queues to the API server. Tests replace it with a
// simulated cluster.
//
// Threading: any thread. Failures: as in ApiClient; kConflict if the object has changed since it
// was read, or the name now belongs to another object; kNotFound if it is gone.

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include "core/result.h"
#include "kube/api_client.h"
#include "queues/kueue.h"
#include "queues/round_policy.h"

namespace synergy::kube {

inline constexpr std::string_view kRoundPoliciesPath = "/apis/synergy.io/v1alpha1/roundpolicies";
// The path prefix of Kueue's kinds; append a kind's plural name.
inline constexpr std::string_view kKueuePath = "/apis/kueue.x-k8s.io/v1beta2/";
inline constexpr std::string_view kJobsPath = "/apis/batch/v1/jobs";
inline constexpr std::string_view kTrainJobsPath = "/apis/trainer.kubeflow.org/v1alpha1/trainjobs";

class RoundApi {
 public:
  virtual ~RoundApi() = default;

  // Do what wire::WritePriority() and wire::WriteNote() describe.
  virtual Result<> WritePriority(const Workload& workload, int64_t priority,
                                 const std::optional<RoundNote>& note, std::stop_token stop) = 0;
  virtual Result<> WriteNote(const Workload& workload, const RoundNote& note,
                             std::stop_token stop) = 0;
  // Does what wire::WriteWorkers() describes.
  virtual Result<> WriteWorkers(const QueuedJob& job, int64_t workers, std::stop_token stop) = 0;
  // Does what wire/kueue/type_check.h describes.
  virtual Result<> AnswerCheck(const Workload& workload, size_t check, const CheckAnswer& answer,
                               std::stop_token stop) = 0;
  virtual Result<> ActivateCheck(const AdmissionCheck& check, WallTime at,
                                 std::stop_token stop) = 0;
  virtual Result<> WriteStatus(const RoundPolicy& policy, const RoundPolicyStatus& status,
                               std::stop_token stop) = 0;
};

// The client must outlive the result.
std::unique_ptr<RoundApi> MakeRoundApi(ApiClient& client);

}  // namespace synergy::kube
