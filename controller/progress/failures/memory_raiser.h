#pragma once

// Raises the process memory of workloads in their measured profiles (profile/measured/
// memory_raise.h), and reads the data that engine/retries needs for that decision.
//
// The next pod of the workload gets the larger amount at admission, and running pods get it from
// profiles/profile_rollout.h. Only the profile that the failed pod was admitted with is raised, in
// the pod's own namespace.
//
// Threading: one owner. Failures: a write fails with kConflict if the profile has changed since the
// watch reported it; decide again then.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "cluster/pod_failure.h"
#include "cluster/state/cluster_state.h"
#include "core/result.h"
#include "engine/retries/retries.h"
#include "kube/apis/profile_api.h"
#include "profile/profile_object.h"

namespace synergy::controller {

class MemoryRaiser {
 public:
  // A profile as the decision sees it.
  using Profile = std::shared_ptr<const KnownProfile>;

  // All references must outlive this object.
  MemoryRaiser(const ProfileIndex& profiles, kube::ProfileApi& api, const ClusterState& state)
      : profiles_(profiles), api_(api), state_(state) {}

  // Returns the profile that the failed pod was admitted with; null if it is gone, or there was
  // none.
  Profile ProfileOf(const std::string& of_namespace, const FailureRecord& failure) const {
    return failure.profile.empty() ? nullptr : profiles_.Find(of_namespace, failure.profile);
  }
  // Returns nullopt if the profile is null or does not state the memory of the workload's
  // processes.
  std::optional<WorkloadMemory> MemoryBy(const Profile& profile,
                                         const FailureRecord& failure) const;
  // REQUIRES: MemoryBy(profile) is a measurement.
  Result<> Raise(const Profile& profile, const MemoryRaise& raise, const std::stop_token& stop) {
    return api_.WriteMemoryRaise(profile->object, raise, stop);
  }

 private:
  const ProfileIndex& profiles_;
  kube::ProfileApi& api_;
  const ClusterState& state_;
};

}  // namespace synergy::controller
