#pragma once

// Looks up the profiles of pods for decisions. The controller reads the watch's copy; the simulator
// reads the profiles of its models.
//
// Threading: determined by the caller.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/units.h"
#include "profile/job_profile.h"
#include "profile/scaled_profiles.h"
#include "profile/training_profile.h"

namespace synergy {

// A profile, scaled to a pod's number of GPUs, and its generation. Null if the profile does not
// exist or is invalid.
struct TunedProfile {
  std::shared_ptr<const JobProfile> profile;
  int64_t generation = 0;
  bool measured = false;  // by Synergy, which updates the pods when the profile changes
  // The measurements and the cache model from which `profile` was calculated; null if it has
  // another source, or is for another number of GPUs.
  std::shared_ptr<const TrainingProfile> cached = nullptr;
};

class ProfileCatalog {
 public:
  virtual ~ProfileCatalog() = default;
  virtual TunedProfile Find(const std::string& pod_namespace, const std::string& name,
                            Gpus gpus) const = 0;
  // Changes whenever a profile changes.
  virtual uint64_t version() const = 0;
};

// The profiles as of one decision, so that no decision sees half of a change. Threading: one owner.
class HeldProfiles final : public ProfileCatalog {
 public:
  // By namespace and name. Invalid profiles are null.
  using ByName = std::map<std::pair<std::string, std::string>, TunedProfile>;

  void Hold(ByName profiles, uint64_t version) {
    profiles_ = std::move(profiles);
    version_ = version;
  }

  TunedProfile Find(const std::string& pod_namespace, const std::string& name,
                    Gpus gpus) const override {
    const auto held = profiles_.find({pod_namespace, name});
    if (held == profiles_.end()) return {};
    TunedProfile found = held->second;
    if (found.profile == nullptr || found.profile->gpus() != gpus) found.cached.reset();
    found.profile = scaled_.Find(held->second.profile, gpus);
    return found;
  }
  uint64_t version() const override { return version_; }

 private:
  ByName profiles_;
  uint64_t version_ = 0;
  mutable ScaledProfiles scaled_;
};

}  // namespace synergy
