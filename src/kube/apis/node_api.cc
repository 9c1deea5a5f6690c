#include "kube/apis/node_api.h"

#include <utility>

#include "kube/listing.h"
#include "wire/objects/resource_slices.h"

namespace synergy::kube {
namespace {

std::string NodePath(const std::string& node) { return "/api/v1/nodes/" + Escape(node); }

class HttpNodeApi final : public NodeApi {
 public:
  explicit HttpNodeApi(ApiClient& client) : client_(client) {}

  Result<wire::NodeGpuMetadata> ReadGpus(const std::string& node, std::stop_token stop) override {
    const Result<std::string> answer = client_.Get(NodePath(node), std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadNodeGpuMetadata(*answer);
  }

  Result<> WriteGpus(const std::string& node, const NodeLabelChange& labels,
                     const std::string& gpu_inventory, std::stop_token stop) override {
    const Result<std::string> answer =
        client_.Patch(NodePath(node), "application/merge-patch+json",
                      wire::WriteNodeGpuPatch(labels, gpu_inventory), std::move(stop));
    if (!answer) return Fail(answer.error());
    return {};
  }

  Result<std::vector<std::string>> ReadSliceDrivers(const std::string& node,
                                                    std::stop_token stop) override {
    // Every node sends this request, so resourceVersion=0 allows the API server to answer from its
    // cache.
    const Result<std::string> answer =
        client_.Get("/apis/resource.k8s.io/v1/resourceslices?resourceVersion=0&fieldSelector=" +
                        Escape("spec.nodeName=" + node),
                    std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadSliceDrivers(*answer);
  }

 private:
  ApiClient& client_;
};

}  // namespace

std::unique_ptr<NodeApi> MakeNodeApi(ApiClient& client) {
  return std::make_unique<HttpNodeApi>(client);
}

}  // namespace synergy::kube
