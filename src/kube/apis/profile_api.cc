#include "kube/apis/profile_api.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "kube/listing.h"
#include "wire/training_profile.h"

namespace synergy::kube {
namespace {

std::string Collection(const std::string& profile_namespace) {
  return fmt::format("/apis/synergy.io/v1alpha1/namespaces/{}/trainingprofiles",
                     Escape(profile_namespace));
}

std::string PathOf(const ProfileObject& object) {
  return fmt::format("{}/{}", Collection(object.profile_namespace), Escape(object.name));
}

class HttpProfileApi final : public ProfileApi {
 public:
  explicit HttpProfileApi(ApiClient& client) : client_(client) {}

  Result<> WriteStatus(const ProfileObject& object, const ProfileStatus& status,
                       std::stop_token stop) override {
    return PatchStatus(object, wire::WriteProfileStatus(object.uid, status), std::move(stop));
  }

  Result<ProfileObject> Create(const std::string& profile_namespace,
                               const MeasuredProfile& measured, std::stop_token stop) override {
    const Result<std::string> answer =
        client_.Post(Collection(profile_namespace),
                     wire::WriteNewMeasured(profile_namespace, measured), std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadTrainingProfile(*answer);
  }

  Result<> WriteMeasured(const ProfileObject& object, const MeasuredProfile& measured,
                         std::stop_token stop) override {
    return PatchStatus(object, wire::WriteMeasured(object.uid, measured), std::move(stop));
  }

  Result<> WriteMemoryRaise(const ProfileObject& object, const MemoryRaise& raise,
                            std::stop_token stop) override {
    const Result<std::string> answer =
        PatchedStatus(object, wire::WriteMemoryRaise(object, raise), std::move(stop));
    if (!answer) return Fail(answer.error());
    const Result<ProfileObject> written = wire::ReadTrainingProfile(*answer);
    if (!written) return Fail(written.error());
    if (!written->measured || !written->measured->raise) {
      return Fail(ErrorCode::kInvalid,
                  "the API server has dropped status.memoryRaise: apply this version's "
                  "CustomResourceDefinitions");
    }
    return {};
  }

  Result<> Delete(const ProfileObject& object, std::stop_token stop) override {
    const Result<std::string> answer =
        client_.Delete(PathOf(object), wire::WriteDeletion(object.uid), std::move(stop));
    if (!answer) return Fail(answer.error());
    return {};
  }

 private:
  // Returns the profile after the patch.
  Result<std::string> PatchedStatus(const ProfileObject& object, const std::string& body,
                                    std::stop_token stop) {
    return client_.Patch(PathOf(object) + "/status", "application/merge-patch+json", body,
                         std::move(stop));
  }
  Result<> PatchStatus(const ProfileObject& object, const std::string& body, std::stop_token stop) {
    const Result<std::string> answer = PatchedStatus(object, body, std::move(stop));
    if (!answer) return Fail(answer.error());
    return {};
  }

  ApiClient& client_;
};

}  // namespace

std::unique_ptr<ProfileApi> MakeProfileApi(ApiClient& client) {
  return std::make_unique<HttpProfileApi>(client);
}

}  // namespace synergy::kube
