#pragma once

// What we write about TrainingProfiles (synergy.io/v1alpha1), and one alone as it is read.
//
// Threading: pure. The text of a status names the object's UID, so that the API server refuses it
// (409) for a namesake created later. Two write statuses, each its own fields: what the controller
// makes of a profile, and what it has measured.

#include <string>
#include <string_view>

#include "core/result.h"
#include "profile/measured/measured_profile.h"
#include "profile/profile_object.h"

namespace synergy::wire {

// Body of PATCH trainingprofiles/{name}/status as application/merge-patch+json.
std::string WriteProfileStatus(const std::string& uid, const ProfileStatus& status);

// kInvalid: not JSON. What is wrong with the profile is in its problems.
Result<ProfileObject> ReadTrainingProfile(std::string_view text);

// Body of POST trainingprofiles: an object of ours for what is measured, without a status. The
// throughputs and the like of `measured` are finite.
std::string WriteNewMeasured(const std::string& profile_namespace, const MeasuredProfile& measured);
// Body of PATCH as WriteProfileStatus().
std::string WriteMeasured(const std::string& uid, const MeasuredProfile& measured);
// Body of DELETE trainingprofiles/{name}.
std::string WriteDeletion(const std::string& uid);

}  // namespace synergy::wire
