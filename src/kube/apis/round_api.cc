#include "kube/apis/round_api.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "kube/listing.h"
#include "wire/kueue/kueue.h"
#include "wire/kueue/queued_job.h"
#include "wire/kueue/round_policy.h"
#include "wire/kueue/type_check.h"

namespace synergy::kube {
namespace {

class HttpRoundApi final : public RoundApi {
 public:
  explicit HttpRoundApi(ApiClient& client) : client_(client) {}

  Result<> WritePriority(const Workload& workload, int64_t priority,
                         const std::optional<RoundNote>& note, std::stop_token stop) override {
    return Merge(PathOf(workload), wire::WritePriority(workload, priority, note), std::move(stop));
  }

  Result<> WriteNote(const Workload& workload, const RoundNote& note,
                     std::stop_token stop) override {
    return Merge(PathOf(workload), wire::WriteNote(workload, note), std::move(stop));
  }

  Result<> WriteWorkers(const QueuedJob& job, int64_t workers, std::stop_token stop) override {
    return Merge(PathOf(kJobsPath, job.job_namespace, job.name), wire::WriteWorkers(job, workers),
                 std::move(stop));
  }

  Result<> AnswerCheck(const Workload& workload, size_t check, const CheckAnswer& answer,
                       std::stop_token stop) override {
    return Send(PathOf(workload) + "/status", "application/json-patch+json",
                wire::WriteCheckAnswer(workload, check, answer), std::move(stop));
  }

  Result<> ActivateCheck(const AdmissionCheck& check, WallTime at, std::stop_token stop) override {
    return Merge(fmt::format("{}admissionchecks/{}/status", kKueuePath, Escape(check.name)),
                 wire::WriteCheckActive(check, at), std::move(stop));
  }

  Result<> WriteStatus(const RoundPolicy& policy, const RoundPolicyStatus& status,
                       std::stop_token stop) override {
    return Merge(fmt::format("{}/{}/status", kRoundPoliciesPath, Escape(policy.name)),
                 wire::WriteRoundPolicyStatus(policy, status), std::move(stop));
  }

 private:
  // `all`: the path for all objects of the kind.
  static std::string PathOf(std::string_view all, const std::string& its_namespace,
                            const std::string& name) {
    const size_t plural = all.rfind('/');
    return fmt::format("{}/namespaces/{}{}/{}", all.substr(0, plural), Escape(its_namespace),
                       all.substr(plural), Escape(name));
  }

  static std::string PathOf(const Workload& workload) {
    return fmt::format("{}namespaces/{}/workloads/{}", kKueuePath,
                       Escape(workload.workload_namespace), Escape(workload.name));
  }

  Result<> Merge(const std::string& path, const std::string& body, std::stop_token stop) {
    return Send(path, "application/merge-patch+json", body, std::move(stop));
  }

  Result<> Send(const std::string& path, const std::string& type, const std::string& body,
                std::stop_token stop) {
    const Result<std::string> answer = client_.Patch(path, type, body, std::move(stop));
    if (!answer) return Fail(answer.error());
    return {};
  }

  ApiClient& client_;
};

}  // namespace

std::unique_ptr<RoundApi> MakeRoundApi(ApiClient& client) {
  return std::make_unique<HttpRoundApi>(client);
}

}  // namespace synergy::kube
