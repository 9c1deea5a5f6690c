#include "kube/apis/pod_api.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "kube/listing.h"
#include "wire/pods/pod_writes.h"

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
  const Result<std::string> answer = client.Patch(
      fmt::format("{}/status?fieldManager={}", PodPath(pod.pod_namespace, pod.name),
                  annotations::kNodeAgentManager),
      "application/merge-patch+json", wire::WriteAnnotationChanges(pod.uid, changes), stop);
  if (!answer) return Fail(answer.error());
  return {};
}

std::unique_ptr<PodApi> MakePodApi(ApiClient& client, wire::ObjectReader reader) {
  return std::make_unique<HttpPodApi>(client, std::move(reader));
}

namespace {

class HttpEvictionApi final : public EvictionApi {
 public:
  explicit HttpEvictionApi(ApiClient& client) : client_(client) {}

  Result<> TryEvict(const PodIdentity& pod, std::stop_token stop) override {
    return Post(pod, true, std::move(stop));
  }
  Result<> Evict(const PodIdentity& pod, std::stop_token stop) override {
    return Post(pod, false, std::move(stop));
  }

 private:
  Result<> Post(const PodIdentity& pod, bool dry_run, std::stop_token stop) {
    const std::string path = fmt::format("/api/v1/namespaces/{}/pods/{}/eviction",
                                         Escape(pod.pod_namespace), Escape(pod.name));
    const Result<std::string> answer = client_.Post(
        path, wire::WriteEviction(pod.pod_namespace, pod.name, pod.uid, dry_run), std::move(stop));
    if (!answer) return Fail(answer.error());
    return {};
  }

  ApiClient& client_;
};

}  // namespace

std::unique_ptr<EvictionApi> MakeEvictionApi(ApiClient& client) {
  return std::make_unique<HttpEvictionApi>(client);
}

}  // namespace synergy::kube
