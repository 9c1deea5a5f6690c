#include "kube/apis/profile_api.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "kube/listing.h"
#include "wire/training_profile.h"

namespace synergy::kube {
namespace {

std::string PathOf(const ProfileObject& object) {
  return fmt::format("{}/{}", TrainingProfilesPath(object.profile_namespace), Escape(object.name));
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
        client_.Post(TrainingProfilesPath(profile_namespace),
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
    const Result<ProfileObject> written =
        Written(object, wire::WriteMemoryRaise(object, raise), std::move(stop));
    if (!written) return Fail(written.error());
    const bool is_kept = written->measured && written->measured->raise;
    return is_kept ? Result<>() : Dropped("memoryRaise");
  }

  Result<> WritePacking(const ProfileObject& object, const std::vector<PackRecord>& records,
                        std::stop_token stop) override {
    const Result<ProfileObject> written =
        Written(object, wire::WritePacking(object, records), std::move(stop));
    if (!written) return Fail(written.error());
    return written->packing == records ? Result<>() : Dropped("packing");
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
  Result<ProfileObject> Written(const ProfileObject& object, const std::string& body,
                                std::stop_token stop) {
    const Result<std::string> answer = PatchedStatus(object, body, std::move(stop));
    if (!answer) return Fail(answer.error());
    return wire::ReadTrainingProfile(*answer);
  }
  static Result<> Dropped(std::string_view member) {
    return Fail(ErrorCode::kInvalid,
                fmt::format("the API server has dropped status.{}: apply this version's "
                            "CustomResourceDefinitions",
                            member));
  }
  Result<> PatchStatus(const ProfileObject& object, const std::string& body, std::stop_token stop) {
    const Result<std::string> answer = PatchedStatus(object, body, std::move(stop));
    if (!answer) return Fail(answer.error());
    return {};
  }

  ApiClient& client_;
};

}  // namespace

std::string TrainingProfilesPath(const std::string& profile_namespace) {
  return ListPath("/apis/synergy.io/v1alpha1/", "trainingprofiles", profile_namespace);
}

std::unique_ptr<ProfileApi> MakeProfileApi(ApiClient& client) {
  return std::make_unique<HttpProfileApi>(client);
}

}  // namespace synergy::kube
