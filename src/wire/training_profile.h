#pragma once

// What we write about TrainingProfiles (synergy.io/v1alpha1).
//
// Threading: pure. The text names the object's UID, so that the API server refuses it (409) for a
// namesake created later.

#include <string>

#include "profile/profile_object.h"

namespace synergy::wire {

// Body of PATCH trainingprofiles/{name}/status as application/merge-patch+json.
std::string WriteProfileStatus(const std::string& uid, const ProfileStatus& status);

}  // namespace synergy::wire
