#pragma once

// Profiles of one GPU scaled to others (ForGpus()), each made once: pods of a profile are looked at
// again and again. What was made of a profile goes with it.
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
  // ForGpus(profile, gpus).
  std::shared_ptr<const JobProfile> Find(const std::shared_ptr<const JobProfile>& profile,
                                         Gpus gpus);

 private:
  // Pods of more GPU counts than nodes have get one that is not kept.
  static constexpr size_t kMostCounts = 16;

  using ByGpus = std::map<Gpus, std::shared_ptr<const JobProfile>>;
  std::map<std::weak_ptr<const JobProfile>, ByGpus, std::owner_less<>> of_;
};

}  // namespace synergy
