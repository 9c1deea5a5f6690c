#pragma once

// Writes TrainingProfiles (synergy.io/v1alpha1), and reads a single one.
//
// Threading: pure. The text of a status names the object's UID, so that the API server refuses it
// (409) for a later object with the same name. A status has four writers, each with its own fields.
// They write the controller's evaluation of a profile, its measurements, raises of its process
// memory, and the results of packs.

#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "profile/measured/measured_profile.h"
#include "profile/profile_object.h"

namespace synergy::wire {

// Returns the body of PATCH trainingprofiles/{name}/status as application/merge-patch+json.
std::string WriteProfileStatus(const std::string& uid, const ProfileStatus& status);

// Returns kInvalid if the text is not JSON. Problems of the profile are in its `problems`.
Result<ProfileObject> ReadTrainingProfile(std::string_view text);

// Returns the body of POST trainingprofiles: a profile created for measurements, without a status.
// REQUIRES: the throughputs and other numbers of `measured` are finite.
std::string WriteNewMeasured(const std::string& profile_namespace, const MeasuredProfile& measured);
// Returns the body of PATCH, as WriteProfileStatus() does.
std::string WriteMeasured(const std::string& uid, const MeasuredProfile& measured);
// Does the same for a raise of the process memory. The API server refuses it (409) if the object
// has changed since it was read.
std::string WriteMemoryRaise(const ProfileObject& object, const MemoryRaise& raise);
// Does the same for the results of packs, and replaces all of them.
std::string WritePacking(const ProfileObject& object, const std::vector<PackRecord>& records);
// Returns the body of DELETE trainingprofiles/{name}.
std::string WriteDeletion(const std::string& uid);

}  // namespace synergy::wire
