#include "profile/scaled_profiles.h"

namespace synergy {

std::shared_ptr<const JobProfile> ScaledProfiles::Find(
    const std::shared_ptr<const JobProfile>& profile, Gpus gpus) {
  if (!profile || profile->gpus() == gpus) return profile;
  auto known = of_.find(profile);
  if (known == of_.end()) {
    std::erase_if(of_, [](const auto& entry) { return entry.first.expired(); });
    known = of_.try_emplace(profile).first;
  }
  ByGpus& counts = known->second;
  if (const auto made = counts.find(gpus); made != counts.end()) return made->second;
  std::shared_ptr<const JobProfile> scaled = ForGpus(profile, gpus);
  if (counts.size() < kMostCounts) counts.emplace(gpus, scaled);
  return scaled;
}

}  // namespace synergy
