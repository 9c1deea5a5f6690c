#pragma once

// The tuner's copy of the stored profiles, refreshed between its decisions.
//
// This file is separate because the tuner needs a copy that does not change during a decision;
// other readers use the store.
//
// Threading: one owner; the store may be written at the same time.

#include <cstdint>
#include <optional>
#include <string>

#include "controller/cluster/profile_store.h"
#include "engine/decisions.h"
#include "engine/profile_catalog.h"

namespace synergy::controller {

class TunerProfiles final : public ProfileCatalog {
 public:
  // `store` must outlive this object.
  explicit TunerProfiles(const ProfileStore& store) : store_(store) {}

  // Copies the store's profiles. Call it before each decision. Returns the profiles for a journal
  // if they may have changed.
  std::optional<decision::ProfilesHeld> Hold();

  TunedProfile Find(const std::string& pod_namespace, const std::string& name,
                    Gpus gpus) const override {
    return held_.Find(pod_namespace, name, gpus);
  }
  uint64_t version() const override { return held_.version(); }

 private:
  const ProfileStore& store_;
  HeldProfiles held_;
  std::optional<uint64_t> version_;  // nullopt: nothing copied yet
};

}  // namespace synergy::controller
