#include "kube/apis/node_guard_api.h"

#include <utility>

#include <fmt/format.h>

#include "cluster/annotations.h"
#include "kube/listing.h"

namespace synergy::kube {
namespace {

class HttpNodeGuardApi final : public NodeGuardApi {
 public:
  explicit HttpNodeGuardApi(ApiClient& client) : client_(client) {}

  Result<> Write(const NodeGuardChange& change, std::stop_token stop) override {
    const Result<std::string> answer = client_.Patch(
        fmt::format("/api/v1/nodes/{}?fieldManager={}", Escape(change.node),
                    annotations::kFieldManager),
        "application/merge-patch+json", wire::WriteNodeGuards(change), std::move(stop));
    if (!answer) return Fail(answer.error());
    return {};
  }

 private:
  ApiClient& client_;
};

}  // namespace

std::unique_ptr<NodeGuardApi> MakeNodeGuardApi(ApiClient& client) {
  return std::make_unique<HttpNodeGuardApi>(client);
}

}  // namespace synergy::kube
