#include "kube/apis/pod_api.h"

#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "kube/query.h"

namespace synergy::kube {
namespace {

uint64_t Version(const Pod& pod, Precondition precondition) {
  return precondition == Precondition::kUnchanged ? pod.resource_version : 0;
}

class HttpPodApi final : public PodApi {
 public:
  HttpPodApi(ApiClient& client, wire::ObjectReader reader)
      : client_(client), reader_(std::move(reader)) {}

  Result<Pod> Get(const std::string& pod_namespace, const std::string& name,
                  std::stop_token stop) override {
    return Read(client_.Get(PodPath(pod_namespace, name), std::move(stop)));
  }

  Result<> Bind(const PodIdentity& pod, const std::string& node,
                const AnnotationChanges& annotations, uint64_t unchanged_since,
                std::stop_token stop) override {
    const Result<std::string> answer =
        client_.Post(PodPath(pod.pod_namespace, pod.name) + "/binding",
                     wire::WriteBinding(pod.pod_namespace, pod.name, pod.uid, node, annotations,
                                        unchanged_since),
                     std::move(stop));
    if (!answer) return Fail(answer.error());
    return {};
  }

  Result<Pod> Resize(const Pod& pod, const ResourceVector& amounts, Precondition precondition,
                     Resized resized, std::stop_token stop) override {
    return Read(client_.Patch(
        fmt::format("{}/resize?fieldManager={}", PodPath(pod.pod_namespace, pod.name),
                    annotations::kFieldManager),
        "application/strategic-merge-patch+json",
        wire::WriteResize(pod.uid, *pod.fungible, amounts, resized, Version(pod, precondition)),
        std::move(stop)));
  }

  Result<Pod> Annotate(const Pod& pod, const AnnotationChanges& changes, Precondition precondition,
                       std::stop_token stop) override {
    return Read(
        client_.Patch(fmt::format("{}?fieldManager={}", PodPath(pod.pod_namespace, pod.name),
                                  annotations::kFieldManager),
                      "application/merge-patch+json",
                      wire::WriteAnnotationChanges(pod.uid, changes, Version(pod, precondition)),
                      std::move(stop)));
  }

 private:
  Result<Pod> Read(const Result<std::string>& answer) const {
    if (!answer) return Fail(answer.error());
    return reader_.ReadPod(*answer, wire::PodUse::kAccounted);
  }

  ApiClient& client_;
  const wire::ObjectReader reader_;
};

}  // namespace

std::string PodPath(const std::string& pod_namespace, const std::string& name) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}", Escape(pod_namespace), Escape(name));
}

Result<> AnnotateByStatus(ApiClient& client, const PodIdentity& pod,
                          const AnnotationChanges& changes, const std::stop_token& stop) {
  const Result<std::string> answer =
      client.Patch(PodPath(pod.pod_namespace, pod.name) + "/status", "application/merge-patch+json",
                   wire::WriteAnnotationChanges(pod.uid, changes), stop);
  if (!answer) return Fail(answer.error());
  return {};
}

std::unique_ptr<PodApi> MakePodApi(ApiClient& client, wire::ObjectReader reader) {
  return std::make_unique<HttpPodApi>(client, std::move(reader));
}

}  // namespace synergy::kube
