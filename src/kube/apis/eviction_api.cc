#include "kube/apis/eviction_api.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "kube/query.h"
#include "wire/pods/pod_writes.h"

namespace synergy::kube {
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
