#include "kube/training_profiles.h"

#include <utility>

#include <fmt/format.h>

#include "json/training_profile.h"
#include "kube/query.h"

namespace synergy::kube {

Result<> PatchProfileStatus(ApiClient& client, const ProfileObject& object,
                            const ProfileStatus& status, std::stop_token stop) {
  const Result<std::string> answer =
      client.Patch(fmt::format("/apis/synergy.io/v1alpha1/namespaces/{}/trainingprofiles/{}/status",
                               Escape(object.profile_namespace), Escape(object.name)),
                   "application/merge-patch+json", json::WriteProfileStatus(object.uid, status),
                   std::move(stop));
  if (!answer) return Fail(answer.error());
  return {};
}

}  // namespace synergy::kube
