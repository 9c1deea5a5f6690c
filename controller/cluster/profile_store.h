#pragma once

// The cluster's TrainingProfiles, with what follows from them.
//
// Threading: from any thread; a watch writes, everybody reads. What Find() gives is immutable and
// stays as it is when the profile changes.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/profile_book.h"
#include "engine/profiler/profiler.h"
#include "kube/reflector.h"
#include "profile/profile_object.h"
#include "profile/scaled_profiles.h"

namespace synergy::controller {

class ProfileStore final : public kube::ObjectStore<ProfileObject>, public ProfileIndex {
 public:
  // `tolerance` of profiles that have none of their own.
  explicit ProfileStore(double tolerance) : tolerance_(tolerance) {}

  void Replace(std::vector<ProfileObject> all) override;
  void Upsert(ProfileObject object) override;
  void Remove(const ProfileObject& object) override;
  std::optional<ProfileObject> Last(const ProfileObject& object) const override;

  // Null when there is none of that name.
  std::shared_ptr<const KnownProfile> Find(const std::string& profile_namespace,
                                           const std::string& name) const override;
  std::vector<std::shared_ptr<const KnownProfile>> All() const override;
  // What was measured of a workload with so many GPUs, in gangs of that size; each of another
  // product, in their order.
  std::vector<std::shared_ptr<const KnownProfile>> Measured(const std::string& profile_namespace,
                                                            const std::string& workload, Gpus gpus,
                                                            int32_t gang_size) const;
  // Whether anything was measured of any workload.
  bool AnyMeasured() const;
  // ForGpus() of what a profile of the store says, made once.
  std::shared_ptr<const JobProfile> Scaled(const std::shared_ptr<const JobProfile>& profile,
                                           Gpus gpus) const;
  uint64_t version() const override;

  struct Counts {
    size_t valid = 0;
    size_t invalid = 0;
    // Of the valid ones, what was measured.
    size_t confirmed = 0;
    size_t estimated = 0;
    size_t drifted = 0;
  };
  Counts counts() const;

 private:
  using Key = std::pair<std::string, std::string>;  // namespace, name

  // Namespace, workload, GPUs, size of the gang; and by product.
  using MeasuredKey = std::tuple<std::string, std::string, Gpus, int32_t>;
  using ByProduct = std::map<std::string, std::shared_ptr<const KnownProfile>>;

  static MeasuredKey MeasuredKeyOf(const ProfileObject& object);
  std::shared_ptr<const KnownProfile> Know(ProfileObject object) const;
  // With the mutex held.
  void Keep(Key key, std::shared_ptr<const KnownProfile> known);
  void Forget(const Key& key);

  const double tolerance_;
  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<const KnownProfile>> profiles_;
  std::map<MeasuredKey, ByProduct> measured_;  // of those, what was measured
  uint64_t version_ = 0;
  mutable ScaledProfiles scaled_;
};

// Those that the controller has published, as the profiler asks for them.
class StoredMeasurements final : public MeasuredBook {
 public:
  // `store` outlives this.
  explicit StoredMeasurements(const ProfileStore& store) : store_(store) {}

  std::shared_ptr<const MeasuredProfile> Find(const std::string& profile_namespace,
                                              const std::string& name) const override;

 private:
  const ProfileStore& store_;
};

// The same profiles as the tuner asks for them: by a pod's GPUs.
class StoredProfiles final : public ProfileBook {
 public:
  // `store` outlives this.
  explicit StoredProfiles(const ProfileStore& store) : store_(store) {}

  TunedProfile Find(const std::string& pod_namespace, const std::string& name,
                    Gpus gpus) const override;
  uint64_t version() const override { return store_.version(); }

 private:
  const ProfileStore& store_;
};

}  // namespace synergy::controller
