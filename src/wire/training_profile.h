#pragma once

// Writes TrainingProfiles (synergy.io/v1alpha1), and reads a single one.
//
// Threading: pure. The text of a status names the object's UID, so that the API server refuses it
// (409) for a namesake created later. There are two writers of a status, each with its own fields:
// one for the controller's evaluation of a profile, one for its measurements.

#include <string>
#include <string_view>

#include "core/result.h"
#include "profile/measured/measured_profile.h"
#include "profile/profile_object.h"

namespace synergy::wire {

// Body of PATCH trainingprofiles/{name}/status as application/merge-patch+json.
std::string WriteProfileStatus(const std::string& uid, const ProfileStatus& status);

// kInvalid: not JSON. Problems of the profile are in its `problems`.
Result<ProfileObject> ReadTrainingProfile(std::string_view text);

// Body of POST trainingprofiles: a profile created for measurements, without a status. The
// throughputs and the like of `measured` are finite.
std::string WriteNewMeasured(const std::string& profile_namespace, const MeasuredProfile& measured);
// Body of PATCH as WriteProfileStatus().
std::string WriteMeasured(const std::string& uid, const MeasuredProfile& measured);
// Body of DELETE trainingprofiles/{name}.
std::string WriteDeletion(const std::string& uid);

}  // namespace synergy::wire
