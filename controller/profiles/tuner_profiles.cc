#include "controller/profiles/tuner_profiles.h"

#include <memory>
#include <utility>

namespace synergy::controller {

std::optional<decision::ProfilesHeld> TunerProfiles::Hold() {
  // Read the version before the profiles, so that a change in between is picked up next time.
  const uint64_t version = store_.version();
  if (version_ == version) return std::nullopt;
  version_ = version;
  HeldProfiles::ByName profiles;
  decision::ProfilesHeld record{.profiles_version = version, .profiles = {}};
  for (const auto& known : store_.All()) {
    const ProfileObject& object = known->object;
    TunedProfile& profile = profiles[{object.profile_namespace, object.name}];
    profile.profile = object.profile;
    profile.generation = object.PointsGeneration();
    profile.measured = object.measured.has_value();
    if (object.training.cached)
      profile.cached = std::make_shared<const TrainingProfile>(object.training);
    decision::HeldProfile& each = record.profiles.emplace_back();
    each.profile_namespace = object.profile_namespace;
    each.name = object.name;
    each.generation = object.PointsGeneration();
    each.measured = object.measured.has_value();
    if (object.profile != nullptr) each.training = object.training;
  }
  held_.Hold(std::move(profiles), version);
  return record;
}

}  // namespace synergy::controller
