#pragma once

// Writes TrainingProfiles to the API server.
//
// Threading: any thread. Failures: as in ApiClient; kConflict if the name now belongs to another
// profile, kNotFound if the profile is gone.

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "kube/api_client.h"
#include "profile/profile_object.h"

namespace synergy::kube {

// Returns the path of the profiles in one namespace, or in all if it is empty.
std::string TrainingProfilesPath(const std::string& profile_namespace = {});

class ProfileApi {
 public:
  virtual ~ProfileApi() = default;

  virtual Result<> WriteStatus(const ProfileObject& object, const ProfileStatus& status,
                               std::stop_token stop) = 0;

  // Creates a profile that the controller has measured; kConflict if the name is taken.
  virtual Result<ProfileObject> Create(const std::string& profile_namespace,
                                       const MeasuredProfile& measured, std::stop_token stop) = 0;
  virtual Result<> WriteMeasured(const ProfileObject& object, const MeasuredProfile& measured,
                                 std::stop_token stop) = 0;
  // Returns kConflict if the profile has changed since it was read, and kInvalid if the API server
  // has dropped the raise, for example because its CustomResourceDefinition is older.
  virtual Result<> WriteMemoryRaise(const ProfileObject& object, const MemoryRaise& raise,
                                    std::stop_token stop) = 0;
  // Replaces the results of packs; fails as WriteMemoryRaise() does.
  virtual Result<> WritePacking(const ProfileObject& object, const std::vector<PackRecord>& records,
                                std::stop_token stop) = 0;
  virtual Result<> Delete(const ProfileObject& object, std::stop_token stop) = 0;
};

// The client must outlive the result.
std::unique_ptr<ProfileApi> MakeProfileApi(ApiClient& client);

}  // namespace synergy::kube
