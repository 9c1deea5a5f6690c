#include "kube/apis/failures/failure_api.h"

#include <utility>

#include <fmt/format.h>

#include "kube/apis/pod_api.h"
#include "kube/listing.h"

namespace synergy::kube {
namespace {

class HttpFailureApi final : public FailureApi {
 public:
  HttpFailureApi(ApiClient& reading, ApiClient& writing, wire::ObjectReader reader,
                 std::string own_namespace)
      : reading_(reading),
        writing_(writing),
        reader_(std::move(reader)),
        path_(fmt::format("/api/v1/namespaces/{}/configmaps", Escape(own_namespace))) {}

  Result<std::vector<FailureHistory>> ListHistories(std::stop_token stop) override {
    // Use small pages, because each ConfigMap may have 1 MiB.
    ListRequest request{.path = path_,
                        .field_selector = {},
                        .page_size = 50,
                        .label_selector = fmt::format("{}=true", wire::kFailuresLabel)};
    auto listing = ListAll<FailureHistory>(reading_, reader_, request, stop);
    if (!listing) return Fail(listing.error());
    return std::move(listing->items);
  }

  Result<FailureHistory> ReadHistory(const std::string& of_namespace,
                                     std::stop_token stop) override {
    const Result<std::string> answer = reading_.Get(PathOf(of_namespace), std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadFailureHistory(*answer);
  }

  Result<FailureHistory> WriteHistory(const FailureHistory& history,
                                      std::stop_token stop) override {
    const Result<std::string> answer =
        history.resource_version.empty()
            ? writing_.Post(path_, wire::WriteNewFailureHistory(history), std::move(stop))
            : writing_.Patch(PathOf(history.of_namespace), "application/merge-patch+json",
                             wire::WriteFailureHistoryPatch(history), std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadFailureHistory(*answer);
  }

  Result<> RemoveHistory(const FailureHistory& history, std::stop_token stop) override {
    const Result<std::string> answer = writing_.Delete(
        PathOf(history.of_namespace), wire::WriteFailureHistoryDeletion(history), std::move(stop));
    if (!answer) return Fail(answer.error());
    return {};
  }

  Result<EndedPod> ReadPod(const std::string& pod_namespace, const std::string& name,
                           std::stop_token stop) override {
    const Result<std::string> answer = reading_.Get(PodPath(pod_namespace, name), std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadEndedPod(*answer, reader_.pod_rules());
  }

  Result<wire::OwnerFacts> ReadOwner(const std::string& its_namespace, const ObjectOwner& owner,
                                     std::stop_token stop) override {
    const std::string_view plural = owner.kind == "Job"          ? "jobs"
                                    : owner.kind == "JobSet"     ? "jobsets"
                                    : owner.kind == "RayCluster" ? "rayclusters"
                                                                 : "";
    const size_t slash = owner.api_version.find('/');
    if (plural.empty() || slash == std::string::npos)
      return Fail(ErrorCode::kNotFound, fmt::format("no owner of a {} is known", owner.kind));
    const std::string path =
        fmt::format("/apis/{}/{}/namespaces/{}/{}/{}", Escape(owner.api_version.substr(0, slash)),
                    Escape(owner.api_version.substr(slash + 1)), Escape(its_namespace), plural,
                    Escape(owner.name));
    const Result<std::string> answer = reading_.Get(path, std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadOwnerFacts(*answer);
  }

 private:
  std::string PathOf(const std::string& of_namespace) const {
    return path_ + "/" + Escape(wire::FailureHistoryName(of_namespace));
  }

  ApiClient& reading_;
  ApiClient& writing_;
  const wire::ObjectReader reader_;
  const std::string path_;
};

}  // namespace

std::unique_ptr<FailureApi> MakeFailureApi(ApiClient& reading, ApiClient& writing,
                                           wire::ObjectReader reader, std::string own_namespace) {
  return std::make_unique<HttpFailureApi>(reading, writing, std::move(reader),
                                          std::move(own_namespace));
}

}  // namespace synergy::kube
