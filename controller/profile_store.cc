#include "controller/profile_store.h"

namespace synergy::controller {

std::shared_ptr<const KnownProfile> ProfileStore::Know(ProfileObject object) const {
  auto known = std::make_shared<KnownProfile>();
  known->tolerance = object.tolerance.value_or(tolerance_);
  if (object.profile != nullptr) known->demand = object.profile->Demand(known->tolerance);
  known->object = std::move(object);
  return known;
}

void ProfileStore::Replace(std::vector<ProfileObject> all) {
  std::map<Key, std::shared_ptr<const KnownProfile>> profiles;
  for (ProfileObject& object : all) {
    Key key(object.profile_namespace, object.name);
    profiles[std::move(key)] = Know(std::move(object));
  }
  const std::lock_guard lock(mutex_);
  profiles_ = std::move(profiles);
  ++version_;
}

void ProfileStore::Upsert(ProfileObject object) {
  Key key(object.profile_namespace, object.name);
  auto known = Know(std::move(object));
  const std::lock_guard lock(mutex_);
  profiles_[std::move(key)] = std::move(known);
  ++version_;
}

void ProfileStore::Remove(const ProfileObject& object) {
  const std::lock_guard lock(mutex_);
  profiles_.erase({object.profile_namespace, object.name});
  ++version_;
}

std::shared_ptr<const KnownProfile> ProfileStore::Find(const std::string& profile_namespace,
                                                       const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto it = profiles_.find({profile_namespace, name});
  return it == profiles_.end() ? nullptr : it->second;
}

std::vector<std::shared_ptr<const KnownProfile>> ProfileStore::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const KnownProfile>> all;
  all.reserve(profiles_.size());
  for (const auto& [key, profile] : profiles_) all.push_back(profile);
  return all;
}

uint64_t ProfileStore::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

ProfileStore::Counts ProfileStore::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts;
  for (const auto& [key, profile] : profiles_)
    ++(profile->object.profile != nullptr ? counts.valid : counts.invalid);
  return counts;
}

TunedProfile StoredProfiles::Find(const std::string& pod_namespace, const std::string& name,
                                  Gpus gpus) const {
  const std::shared_ptr<const KnownProfile> known = store_.Find(pod_namespace, name);
  if (!known) return {};
  return {ForGpus(known->object.profile, gpus), known->object.generation};
}

}  // namespace synergy::controller
