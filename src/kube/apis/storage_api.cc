#include "kube/apis/storage_api.h"

#include <utility>

#include <fmt/format.h>

#include "kube/listing.h"

namespace synergy::kube {
namespace {

class HttpStorageApi final : public StorageApi {
 public:
  HttpStorageApi(ApiClient& reading, ApiClient& writing, const std::string& own_namespace)
      : reading_(reading),
        writing_(writing),
        config_maps_(fmt::format("/api/v1/namespaces/{}/configmaps", Escape(own_namespace))) {}

  Result<PublishedStorage> ReadStorage(std::stop_token stop) override {
    const Result<std::string> answer = reading_.Get(Path(), std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadStorage(*answer);
  }

  Result<PublishedStorage> WriteStorage(const PublishedStorage& published,
                                        std::stop_token stop) override {
    const Result<std::string> answer =
        published.resource_version.empty()
            ? writing_.Post(config_maps_, wire::WriteNewStorage(published), std::move(stop))
            : writing_.Patch(Path(), "application/merge-patch+json",
                             wire::WriteStoragePatch(published), std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadStorage(*answer);
  }

 private:
  std::string Path() const { return fmt::format("{}/{}", config_maps_, wire::kStorageName); }

  ApiClient& reading_;
  ApiClient& writing_;
  const std::string config_maps_;
};

}  // namespace

std::unique_ptr<StorageApi> MakeStorageApi(ApiClient& reading, ApiClient& writing,
                                           const std::string& own_namespace) {
  return std::make_unique<HttpStorageApi>(reading, writing, own_namespace);
}

}  // namespace synergy::kube
