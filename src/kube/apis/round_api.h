#pragma once

// What the controller tells the API server about whose turn it is: the seam at which tests put a
// cluster of their own.
//
// Threading: from any thread.
// Failures: as ApiClient says; kConflict when the object has changed since it was read, or the one
// of that name is another one by now, kNotFound when it is gone.

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string_view>

#include "core/result.h"
#include "kube/api_client.h"
#include "queues/kueue.h"
#include "queues/queued_job.h"
#include "queues/round_policy.h"
#include "queues/type_check.h"

namespace synergy::kube {

inline constexpr std::string_view kRoundPoliciesPath = "/apis/synergy.io/v1alpha1/roundpolicies";
// Of Kueue's kinds, each before its plural name.
inline constexpr std::string_view kKueuePath = "/apis/kueue.x-k8s.io/v1beta2/";
inline constexpr std::string_view kJobsPath = "/apis/batch/v1/jobs";
inline constexpr std::string_view kTrainJobsPath = "/apis/trainer.kubeflow.org/v1alpha1/trainjobs";

class RoundApi {
 public:
  virtual ~RoundApi() = default;

  // As wire::WritePriority() and wire::WriteNote().
  virtual Result<> WritePriority(const Workload& workload, int64_t priority,
                                 const std::optional<RoundNote>& note, std::stop_token stop) = 0;
  virtual Result<> WriteNote(const Workload& workload, const RoundNote& note,
                             std::stop_token stop) = 0;
  // As wire::WriteWorkers().
  virtual Result<> WriteWorkers(const QueuedJob& job, int64_t workers, std::stop_token stop) = 0;
  // As those of wire/kueue/type_check.h.
  virtual Result<> AnswerCheck(const Workload& workload, size_t check, const CheckAnswer& answer,
                               std::stop_token stop) = 0;
  virtual Result<> ActivateCheck(const QueuePart& check, WallTime at, std::stop_token stop) = 0;
  virtual Result<> WriteStatus(const RoundPolicy& policy, const RoundPolicyStatus& status,
                               std::stop_token stop) = 0;
};

// The client outlives it.
std::unique_ptr<RoundApi> MakeRoundApi(ApiClient& client);

}  // namespace synergy::kube
