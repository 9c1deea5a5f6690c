#pragma once

// Profiles as they are between two decisions: so that one decision never sees half a change.
//
// Threading: one owner.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "engine/profile_book.h"
#include "profile/scaled_profiles.h"

namespace synergy {

class HeldProfiles final : public ProfileBook {
 public:
  // By namespace and name. Those that make no sense are null.
  using ByName = std::map<std::pair<std::string, std::string>, TunedProfile>;

  void Hold(ByName profiles, uint64_t version) {
    profiles_ = std::move(profiles);
    version_ = version;
  }

  TunedProfile Find(const std::string& pod_namespace, const std::string& name,
                    Gpus gpus) const override {
    const auto held = profiles_.find({pod_namespace, name});
    if (held == profiles_.end()) return {};
    return {scaled_.Find(held->second.profile, gpus), held->second.generation,
            held->second.measured};
  }
  uint64_t version() const override { return version_; }

 private:
  ByName profiles_;
  uint64_t version_ = 0;
  mutable ScaledProfiles scaled_;
};

}  // namespace synergy
