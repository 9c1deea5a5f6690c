#include "kube/bindings.h"

#include <utility>

#include <fmt/format.h>

#include "kube/query.h"

namespace synergy::kube {
namespace {

std::string PodPath(const std::string& pod_namespace, const std::string& name) {
  return fmt::format("/api/v1/namespaces/{}/pods/{}", Escape(pod_namespace), Escape(name));
}

}  // namespace

Result<> BindPod(ApiClient& client, const std::string& pod_namespace, const std::string& name,
                 const std::string& uid, const std::string& node, std::stop_token stop) {
  const Result<std::string> answer =
      client.Post(PodPath(pod_namespace, name) + "/binding",
                  json::WriteBinding(pod_namespace, name, uid, node), std::move(stop));
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

}  // namespace synergy::kube
