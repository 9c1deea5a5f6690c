#include "kube/apis/failures/retry_api.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kube/apis/round_api.h"
#include "kube/listing.h"

namespace synergy::kube {
namespace {

// The most Workloads of a job to read; Kueue has one, and for a moment two.
constexpr int kMostWorkloads = 10;

// Returns the path of the kind's objects in the namespace. Returns an empty path if the kind cannot
// be stopped.
std::string PathOf(std::string_view kind, const std::string& its_namespace) {
  const std::string in_namespace = "namespaces/" + Escape(its_namespace);
  if (kind == "Job") return fmt::format("/apis/batch/v1/{}/jobs", in_namespace);
  if (kind == "JobSet")
    return fmt::format("/apis/jobset.x-k8s.io/v1alpha2/{}/jobsets", in_namespace);
  if (kind == wire::kWorkloadKind) return fmt::format("{}{}/workloads", kKueuePath, in_namespace);
  return {};
}

class HttpRetryApi final : public RetryApi {
 public:
  HttpRetryApi(ApiClient& reading, ApiClient& writing, const std::string& own_namespace)
      : reading_(reading),
        writing_(writing),
        config_maps_(fmt::format("/api/v1/namespaces/{}/configmaps", Escape(own_namespace))) {}

  Result<wire::StoppableJob> ReadJob(const std::string& its_namespace, const ObjectOwner& job,
                                     std::stop_token stop) override {
    const std::string path = PathOf(job.kind, its_namespace);
    if (path.empty())
      return Fail(ErrorCode::kNotFound, fmt::format("a {} cannot be stopped", job.kind));
    const Result<std::string> answer = reading_.Get(path + "/" + Escape(job.name), std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadStoppableJob(*answer, job.kind);
  }

  Result<std::vector<wire::StoppableJob>> ReadWorkloads(const std::string& its_namespace,
                                                        const std::string& job_uid,
                                                        std::stop_token stop) override {
    const Result<std::string> answer = reading_.Get(
        fmt::format("{}?limit={}&labelSelector={}", PathOf(wire::kWorkloadKind, its_namespace),
                    kMostWorkloads, Escape(fmt::format("{}={}", wire::kJobUidLabel, job_uid))),
        std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadStoppableWorkloads(*answer);
  }

  Result<std::optional<std::string>> ReadQueue(const std::string& its_namespace,
                                               const std::string& queue,
                                               std::stop_token stop) override {
    return ReadAnnotation(fmt::format("{}namespaces/{}/localqueues/{}", kKueuePath,
                                      Escape(its_namespace), Escape(queue)),
                          std::move(stop));
  }

  Result<std::optional<std::string>> ReadNamespace(const std::string& name,
                                                   std::stop_token stop) override {
    return ReadAnnotation("/api/v1/namespaces/" + Escape(name), std::move(stop));
  }

  Result<> Stop(const wire::StoppableJob& job, const std::string& decision,
                std::stop_token stop) override {
    const Result<std::string> answer = writing_.Patch(
        PathOf(job.kind, job.job_namespace) + "/" + Escape(job.name),
        "application/merge-patch+json", wire::WriteStop(job, decision), std::move(stop));
    if (!answer) return Fail(answer.error());
    return {};
  }

  Result<PublishedAvoidedNodes> ReadAvoidedNodes(std::stop_token stop) override {
    const Result<std::string> answer = reading_.Get(AvoidedPath(), std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadAvoidedNodes(*answer);
  }

  Result<PublishedAvoidedNodes> WriteAvoidedNodes(const PublishedAvoidedNodes& avoided,
                                                  std::stop_token stop) override {
    const Result<std::string> answer =
        avoided.resource_version.empty()
            ? writing_.Post(config_maps_, wire::WriteNewAvoidedNodes(avoided), std::move(stop))
            : writing_.Patch(AvoidedPath(), "application/merge-patch+json",
                             wire::WriteAvoidedNodesPatch(avoided), std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadAvoidedNodes(*answer);
  }

 private:
  std::string AvoidedPath() const {
    return fmt::format("{}/{}", config_maps_, wire::kAvoidedNodesName);
  }

  Result<std::optional<std::string>> ReadAnnotation(const std::string& path, std::stop_token stop) {
    const Result<std::string> answer = reading_.Get(path, std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadRetriesAnnotation(*answer);
  }

  ApiClient& reading_;
  ApiClient& writing_;
  const std::string config_maps_;
};

}  // namespace

std::unique_ptr<RetryApi> MakeRetryApi(ApiClient& reading, ApiClient& writing,
                                       const std::string& own_namespace) {
  return std::make_unique<HttpRetryApi>(reading, writing, own_namespace);
}

}  // namespace synergy::kube
