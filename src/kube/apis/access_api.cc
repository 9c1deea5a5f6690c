#include "kube/apis/access_api.h"

namespace synergy::kube {
namespace {

class HttpAccessApi final : public AccessApi {
 public:
  explicit HttpAccessApi(ApiClient& client) : client_(client) {}

  Result<std::optional<wire::TokenUser>> ReviewToken(const std::string& token,
                                                     const std::string& audience) override {
    const Result<std::string> answer = client_.Post("/apis/authentication.k8s.io/v1/tokenreviews",
                                                    wire::WriteTokenReview(token, audience));
    if (!answer) return Fail(answer.error());
    return wire::ReadTokenReview(*answer, audience);
  }

  Result<bool> MayGet(const wire::TokenUser& user, const std::string& path) override {
    const Result<std::string> answer = client_.Post(
        "/apis/authorization.k8s.io/v1/subjectaccessreviews", wire::WritePathReview(user, path));
    if (!answer) return Fail(answer.error());
    return wire::ReadPathReview(*answer);
  }

 private:
  ApiClient& client_;
};

}  // namespace

std::unique_ptr<AccessApi> MakeAccessApi(ApiClient& client) {
  return std::make_unique<HttpAccessApi>(client);
}

}  // namespace synergy::kube
