#include "kube/profile_api.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "kube/query.h"
#include "wire/training_profile.h"

namespace synergy::kube {
namespace {

class HttpProfileApi final : public ProfileApi {
 public:
  explicit HttpProfileApi(ApiClient& client) : client_(client) {}

  Result<> WriteStatus(const ProfileObject& object, const ProfileStatus& status,
                       std::stop_token stop) override {
    const Result<std::string> answer = client_.Patch(
        fmt::format("/apis/synergy.io/v1alpha1/namespaces/{}/trainingprofiles/{}/status",
                    Escape(object.profile_namespace), Escape(object.name)),
        "application/merge-patch+json", wire::WriteProfileStatus(object.uid, status),
        std::move(stop));
    if (!answer) return Fail(answer.error());
    return {};
  }

 private:
  ApiClient& client_;
};

}  // namespace

std::unique_ptr<ProfileApi> MakeProfileApi(ApiClient& client) {
  return std::make_unique<HttpProfileApi>(client);
}

}  // namespace synergy::kube
