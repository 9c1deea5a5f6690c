#pragma once

// The cluster's TrainingProfiles, with data derived from them.
//
// Threading: a watch writes; any thread may read. The results of Find() are immutable and do not
// follow later changes of the profile.

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

#include "engine/profile_catalog.h"
#include "engine/profiler/profiler.h"
#include "kube/reflector.h"
#include "profile/profile_object.h"
#include "profile/scaled_profiles.h"

namespace synergy::controller {

class ProfileStore final : public kube::ObjectStore<ProfileObject>, public ProfileIndex {
 public:
  // `tolerance`: applies to profiles without their own.
  explicit ProfileStore(double tolerance) : tolerance_(tolerance) {}

  void Replace(std::vector<ProfileObject> all) override;
  void Upsert(ProfileObject object) override;
  void Remove(const ProfileObject& object) override;
  std::optional<ProfileObject> Last(const ProfileObject& object) const override;

  // Returns null if there is no profile with that name.
  std::shared_ptr<const KnownProfile> Find(const std::string& profile_namespace,
                                           const std::string& name) const override;
  std::vector<std::shared_ptr<const KnownProfile>> All() const override;
  // Returns the measured profiles of a workload for this number of GPUs and this gang size, one per
  // GPU product, ordered by product.
  std::vector<std::shared_ptr<const KnownProfile>> Measured(const std::string& profile_namespace,
                                                            const std::string& workload, Gpus gpus,
                                                            int32_t gang_size) const;
  // Returns the measured profiles that may be hints for workloads that share this looser identity:
  // the best one per GPU product, ordered by product.
  std::vector<std::shared_ptr<const KnownProfile>> Hints(const std::string& profile_namespace,
                                                         const std::string& identity, Gpus gpus,
                                                         int32_t gang_size) const;
  // Returns whether there is a measured profile of any workload.
  bool AnyMeasured() const;
  // Returns ForGpus() of a stored profile, computed once.
  std::shared_ptr<const JobProfile> Scaled(const std::shared_ptr<const JobProfile>& profile,
                                           Gpus gpus) const;
  uint64_t version() const override;

  struct Counts {
    size_t valid = 0;
    size_t invalid = 0;
    // Counts of the measured profiles among the valid ones.
    size_t confirmed = 0;
    size_t estimated = 0;
    size_t drifted = 0;
  };
  Counts counts() const;

 private:
  using Key = std::pair<std::string, std::string>;  // namespace, name

  // Namespace, workload, GPUs, gang size; ByProduct adds the GPU product.
  using MeasuredKey = std::tuple<std::string, std::string, Gpus, int32_t>;
  using ByProduct = std::map<std::string, std::shared_ptr<const KnownProfile>>;

  static MeasuredKey MeasuredKeyOf(const ProfileObject& object);
  static MeasuredKey HintKeyOf(const ProfileObject& object, const std::string& identity);
  std::shared_ptr<const KnownProfile> Know(ProfileObject object) const;
  // REQUIRES: the mutex is held.
  void Keep(Key key, std::shared_ptr<const KnownProfile> known);
  void Forget(const Key& key);

  const double tolerance_;
  mutable std::mutex mutex_;
  std::map<Key, std::shared_ptr<const KnownProfile>> profiles_;
  std::map<MeasuredKey, ByProduct> measured_;  // the measured ones among profiles_
  // The measured profiles that may be hints, by a looser identity in place of the workload, and by
  // name.
  std::map<MeasuredKey, std::map<std::string, std::shared_ptr<const KnownProfile>>> hints_;
  uint64_t version_ = 0;
  mutable ScaledProfiles scaled_;
};

// The measured profiles that the controller has published, in the form that the profiler reads.
class StoredMeasurements final : public MeasuredCatalog {
 public:
  // `store` must outlive this object.
  explicit StoredMeasurements(const ProfileStore& store) : store_(store) {}

  std::shared_ptr<const MeasuredProfile> Find(const std::string& profile_namespace,
                                              const std::string& name) const override;
  std::shared_ptr<const MeasuredProfile> FindHint(const std::string& profile_namespace,
                                                  const std::string& identity, Gpus gpus,
                                                  const std::string& gpu_product,
                                                  int32_t gang_size) const override;

 private:
  const ProfileStore& store_;
};

// The published profiles in the form that the tuner reads: by a pod's GPUs.
class StoredProfiles final : public ProfileCatalog {
 public:
  // `store` must outlive this object.
  explicit StoredProfiles(const ProfileStore& store) : store_(store) {}

  TunedProfile Find(const std::string& pod_namespace, const std::string& name,
                    Gpus gpus) const override;
  uint64_t version() const override { return store_.version(); }

 private:
  const ProfileStore& store_;
};

}  // namespace synergy::controller
