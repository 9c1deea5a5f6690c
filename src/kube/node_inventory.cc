#include "kube/node_inventory.h"

#include <utility>

#include "kube/query.h"

namespace synergy::kube {
namespace {

std::string NodePath(const std::string& node) { return "/api/v1/nodes/" + Escape(node); }

}  // namespace

Result<json::NodeGpuMetadata> GetNodeGpuMetadata(ApiClient& client, const std::string& node,
                                                 std::stop_token stop) {
  const Result<std::string> answer = client.Get(NodePath(node), std::move(stop));
  if (!answer) return Fail(answer.error());
  return json::ReadNodeGpuMetadata(*answer);
}

Result<> PatchNodeGpus(ApiClient& client, const std::string& node,
                       const inventory::LabelChange& labels, const std::string& gpu_inventory,
                       std::stop_token stop) {
  const Result<std::string> answer =
      client.Patch(NodePath(node), "application/merge-patch+json",
                   json::WriteNodeGpuPatch(labels, gpu_inventory), std::move(stop));
  if (!answer) return Fail(answer.error());
  return {};
}

}  // namespace synergy::kube
