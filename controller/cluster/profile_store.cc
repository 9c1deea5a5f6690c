#include "controller/cluster/profile_store.h"

namespace synergy::controller {
namespace {

bool SamePoints(const ProfileObject& a, const ProfileObject& b) {
  return a.uid == b.uid && !a.uid.empty() && a.generation == b.generation &&
         a.measured == b.measured && a.problems.empty() && b.problems.empty();
}

}  // namespace

std::shared_ptr<const KnownProfile> ProfileStore::Know(ProfileObject object) const {
  auto known = std::make_shared<KnownProfile>();
  // Keep the profile derived from the points as long as the points stay the same.
  const auto before = Find(object.profile_namespace, object.name);
  if (before != nullptr && SamePoints(before->object, object))
    object.profile = before->object.profile;
  known->tolerance = object.tolerance.value_or(tolerance_);
  if (object.profile != nullptr) known->demand = object.profile->Demand(known->tolerance);
  known->object = std::move(object);
  return known;
}

ProfileStore::MeasuredKey ProfileStore::MeasuredKeyOf(const ProfileObject& object) {
  const MeasuredProfile& measured = *object.measured;
  return {object.profile_namespace, measured.workload, measured.gpus, measured.gang_size};
}

ProfileStore::MeasuredKey ProfileStore::HintKeyOf(const ProfileObject& object,
                                                  const std::string& identity) {
  const MeasuredProfile& measured = *object.measured;
  return {object.profile_namespace, identity, measured.gpus, measured.gang_size};
}

void ProfileStore::Keep(Key key, std::shared_ptr<const KnownProfile> known) {
  Forget(key);
  const ProfileObject& object = known->object;
  if (object.measured) {
    const MeasuredProfile& measured = *object.measured;
    measured_[MeasuredKeyOf(object)][measured.gpu_product] = known;
    if (MayHint(measured)) {
      for (const LooserIdentity identity : kLooserIdentities) {
        const std::string& text = measured.alike.Of(identity);
        if (!text.empty()) hints_[HintKeyOf(object, text)][object.name] = known;
      }
    }
  }
  profiles_.insert_or_assign(std::move(key), std::move(known));
}

void ProfileStore::Forget(const Key& key) {
  const auto found = profiles_.find(key);
  if (found == profiles_.end()) return;
  const ProfileObject& object = found->second->object;
  if (object.measured) {
    const MeasuredProfile& measured = *object.measured;
    const auto products = measured_.find(MeasuredKeyOf(object));
    products->second.erase(measured.gpu_product);
    if (products->second.empty()) measured_.erase(products);
    for (const LooserIdentity identity : kLooserIdentities) {
      const auto hints = hints_.find(HintKeyOf(object, measured.alike.Of(identity)));
      if (hints == hints_.end()) continue;
      hints->second.erase(object.name);
      if (hints->second.empty()) hints_.erase(hints);
    }
  }
  profiles_.erase(found);
}

void ProfileStore::Replace(std::vector<ProfileObject> all) {
  std::vector<std::shared_ptr<const KnownProfile>> known;
  known.reserve(all.size());
  for (ProfileObject& object : all) known.push_back(Know(std::move(object)));
  const std::lock_guard lock(mutex_);
  profiles_.clear();
  measured_.clear();
  hints_.clear();
  for (auto& each : known) {
    Key key(each->object.profile_namespace, each->object.name);
    Keep(std::move(key), std::move(each));
  }
  ++version_;
}

void ProfileStore::Upsert(ProfileObject object) {
  Key key(object.profile_namespace, object.name);
  auto known = Know(std::move(object));
  const std::lock_guard lock(mutex_);
  Keep(std::move(key), std::move(known));
  ++version_;
}

void ProfileStore::Remove(const ProfileObject& object) {
  const std::lock_guard lock(mutex_);
  Forget({object.profile_namespace, object.name});
  ++version_;
}

std::optional<ProfileObject> ProfileStore::Last(const ProfileObject& object) const {
  const auto known = Find(object.profile_namespace, object.name);
  if (known == nullptr) return std::nullopt;
  return known->object;
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

std::vector<std::shared_ptr<const KnownProfile>> ProfileStore::Measured(
    const std::string& profile_namespace, const std::string& workload, Gpus gpus,
    int32_t gang_size) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<const KnownProfile>> all;
  const auto found = measured_.find({profile_namespace, workload, gpus, gang_size});
  if (found == measured_.end()) return all;
  for (const auto& [product, known] : found->second) all.push_back(known);
  return all;
}

std::vector<std::shared_ptr<const KnownProfile>> ProfileStore::Hints(
    const std::string& profile_namespace, const std::string& identity, Gpus gpus,
    int32_t gang_size) const {
  if (identity.empty()) return {};
  ByProduct best;
  {
    const std::lock_guard lock(mutex_);
    const auto found = hints_.find({profile_namespace, identity, gpus, gang_size});
    if (found == hints_.end()) return {};
    for (const auto& [name, known] : found->second) {
      const MeasuredProfile& measured = *known->object.measured;
      std::shared_ptr<const KnownProfile>& kept = best[measured.gpu_product];
      if (kept == nullptr || IsBetterHint(measured, *kept->object.measured)) kept = known;
    }
  }
  std::vector<std::shared_ptr<const KnownProfile>> all;
  for (auto& [product, known] : best) all.push_back(std::move(known));
  return all;
}

bool ProfileStore::AnyMeasured() const {
  const std::lock_guard lock(mutex_);
  return !measured_.empty();
}

std::shared_ptr<const JobProfile> ProfileStore::Scaled(
    const std::shared_ptr<const JobProfile>& profile, Gpus gpus) const {
  const std::lock_guard lock(mutex_);
  return scaled_.Find(profile, gpus);
}

uint64_t ProfileStore::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

ProfileStore::Counts ProfileStore::counts() const {
  const std::lock_guard lock(mutex_);
  Counts counts;
  for (const auto& [key, profile] : profiles_) {
    const ProfileObject& object = profile->object;
    ++(object.problems.empty() ? counts.valid : counts.invalid);
    if (!object.measured) continue;
    ++(object.measured->drifted     ? counts.drifted
       : object.measured->confirmed ? counts.confirmed
                                    : counts.estimated);
  }
  return counts;
}

TunedProfile StoredProfiles::Find(const std::string& pod_namespace, const std::string& name,
                                  Gpus gpus) const {
  const std::shared_ptr<const KnownProfile> known = store_.Find(pod_namespace, name);
  if (!known) return {};
  return {store_.Scaled(known->object.profile, gpus), known->object.PointsGeneration()};
}

std::shared_ptr<const MeasuredProfile> StoredMeasurements::Find(
    const std::string& profile_namespace, const std::string& name) const {
  const std::shared_ptr<const KnownProfile> known = store_.Find(profile_namespace, name);
  if (!known || !known->object.measured) return nullptr;
  return {known, &*known->object.measured};
}

std::shared_ptr<const MeasuredProfile> StoredMeasurements::FindHint(
    const std::string& profile_namespace, const std::string& identity, Gpus gpus,
    const std::string& gpu_product, int32_t gang_size) const {
  for (const auto& known : store_.Hints(profile_namespace, identity, gpus, gang_size)) {
    const MeasuredProfile& measured = *known->object.measured;
    if (measured.gpu_product == gpu_product) return {known, &measured};
  }
  return nullptr;
}

}  // namespace synergy::controller
