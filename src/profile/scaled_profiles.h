#pragma once

// Caches profiles for one GPU that were scaled to other counts (ForGpus()), because the same
// profile is needed repeatedly. Scaled profiles are dropped together with their original.
//
// This file is separate because both the store of profiles and the copies of decisions use the
// cache.
//
// Threading: one owner at a time.

#include <cstddef>
#include <map>
#include <memory>

#include "core/units.h"
#include "profile/job_profile.h"

namespace synergy {

class ScaledProfiles {
 public:
  // Returns ForGpus(profile, gpus).
  std::shared_ptr<const JobProfile> Find(const std::shared_ptr<const JobProfile>& profile,
                                         Gpus gpus);

 private:
  // The maximum number of GPU counts to keep per profile; nodes have fewer counts. Profiles for
  // other counts are scaled each time.
  static constexpr size_t kMostCounts = 16;

  using ByGpus = std::map<Gpus, std::shared_ptr<const JobProfile>>;
  std::map<std::weak_ptr<const JobProfile>, ByGpus, std::owner_less<>> of_;
};

}  // namespace synergy
