#include "kube/pods.h"

#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "json/pod_writes.h"
#include "kube/query.h"

namespace synergy::kube {
namespace {

std::string PodPath(const std::string& pod_namespace, const std::string& name) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}", Escape(pod_namespace), Escape(name));
}

uint64_t Version(const Pod& pod, Precondition precondition) {
  return precondition == Precondition::kUnchanged ? pod.resource_version : 0;
}

}  // namespace

PodIdentity IdentityOf(const Pod& pod) { return {pod.pod_namespace, pod.name, pod.uid}; }

Result<> BindPod(ApiClient& client, const PodIdentity& pod, const std::string& node,
                 const json::AnnotationChanges& annotations, std::stop_token stop) {
  const Result<std::string> answer = client.Post(
      PodPath(pod.pod_namespace, pod.name) + "/binding",
      json::WriteBinding(pod.pod_namespace, pod.name, pod.uid, node, annotations), std::move(stop));
  if (!answer) return Fail(answer.error());
  return {};
}

Result<Pod> GetPod(ApiClient& client, const json::ObjectReader& reader,
                   const std::string& pod_namespace, const std::string& name,
                   std::stop_token stop) {
  const Result<std::string> answer = client.Get(PodPath(pod_namespace, name), std::move(stop));
  if (!answer) return Fail(answer.error());
  return reader.ReadPod(*answer, json::PodUse::kAccounted);
}

Result<Pod> ResizePod(ApiClient& client, const json::ObjectReader& reader, const Pod& pod,
                      const ResourceVector& amounts, Precondition precondition,
                      std::stop_token stop) {
  const Result<std::string> answer =
      client.Patch(fmt::format("{}/resize?fieldManager={}", PodPath(pod.pod_namespace, pod.name),
                               annotations::kFieldManager),
                   "application/strategic-merge-patch+json",
                   json::WriteResize(pod.uid, *pod.fungible, amounts, Version(pod, precondition)),
                   std::move(stop));
  if (!answer) return Fail(answer.error());
  return reader.ReadPod(*answer, json::PodUse::kAccounted);
}

Result<Pod> AnnotatePod(ApiClient& client, const json::ObjectReader& reader, const Pod& pod,
                        const json::AnnotationChanges& changes, Precondition precondition,
                        std::stop_token stop) {
  const Result<std::string> answer = client.Patch(
      PodPath(pod.pod_namespace, pod.name), "application/merge-patch+json",
      json::WriteAnnotationChanges(pod.uid, changes, Version(pod, precondition)), std::move(stop));
  if (!answer) return Fail(answer.error());
  return reader.ReadPod(*answer, json::PodUse::kAccounted);
}

}  // namespace synergy::kube
