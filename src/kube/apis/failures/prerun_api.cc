#include "kube/apis/failures/prerun_api.h"

#include <utility>

#include <fmt/format.h>

#include "kube/apis/round_api.h"
#include "kube/listing.h"

namespace synergy::kube {
namespace {

std::string JobsOf(const std::string& its_namespace) {
  return fmt::format("/apis/batch/v1/namespaces/{}/jobs", Escape(its_namespace));
}

Result<> WithoutBody(const Result<std::string>& answer) {
  if (!answer) return Fail(answer.error());
  return {};
}

class HttpPrerunApi final : public PrerunApi {
 public:
  HttpPrerunApi(ApiClient& reading, ApiClient& writing) : reading_(reading), writing_(writing) {}

  Result<bool> HasPriorityClass(const std::string& name, std::stop_token stop) override {
    const Result<std::string> answer =
        reading_.Get("/apis/scheduling.k8s.io/v1/priorityclasses/" + Escape(name), std::move(stop));
    if (!answer && answer.error().code == ErrorCode::kNotFound) return false;
    if (!answer) return Fail(answer.error());
    return true;
  }

  Result<std::string> ReadJob(const std::string& its_namespace, const std::string& name,
                              std::stop_token stop) override {
    return reading_.Get(JobsOf(its_namespace) + "/" + Escape(name), std::move(stop));
  }

  Result<> Begin(const std::string& its_namespace, const std::string& trial,
                 std::stop_token stop) override {
    return WithoutBody(writing_.Post(JobsOf(its_namespace), trial, std::move(stop)));
  }

  Result<> End(const PrerunTrial& trial, std::stop_token stop) override {
    return WithoutBody(writing_.Delete(JobsOf(trial.its_namespace) + "/" + Escape(trial.name),
                                       wire::WriteTrialDeletion(trial), std::move(stop)));
  }

  Result<> Note(const PrerunWorkload& workload, const std::string& trial_uid,
                std::stop_token stop) override {
    return Patch(workload, wire::WriteTrialNote(workload, trial_uid), std::move(stop));
  }

  Result<> Stop(const PrerunWorkload& workload, const std::string& trial_uid,
                std::stop_token stop) override {
    return Patch(workload, wire::WritePrerunStop(workload, trial_uid), std::move(stop));
  }

 private:
  Result<> Patch(const PrerunWorkload& workload, const std::string& patch, std::stop_token stop) {
    const std::string path = fmt::format("{}namespaces/{}/workloads/{}", kKueuePath,
                                         Escape(workload.its_namespace), Escape(workload.name));
    return WithoutBody(
        writing_.Patch(path, "application/merge-patch+json", patch, std::move(stop)));
  }

  ApiClient& reading_;
  ApiClient& writing_;
};

}  // namespace

std::unique_ptr<PrerunApi> MakePrerunApi(ApiClient& reading, ApiClient& writing) {
  return std::make_unique<HttpPrerunApi>(reading, writing);
}

}  // namespace synergy::kube
