#pragma once

// Raises the process memory of workloads in their measured profiles (profile/measured/
// memory_raise.h), and reads what engine/retries needs for that decision.
//
// The next pod of the workload gets the larger amount at admission, and running ones by
// profiles/profile_rollout.h. Only the profile that the failed pod was admitted with is raised, in
// the pod's own namespace.
//
// Threading: one owner. Failures: a write fails with kConflict if the profile has changed since the
// watch reported it; decide again then.

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "cluster/pod_failure.h"
#include "cluster/state/cluster_state.h"
#include "controller/cluster/profile_store.h"
#include "core/result.h"
#include "engine/retries/retries.h"
#include "kube/apis/profile_api.h"

namespace synergy::controller {

class MemoryRaiser {
 public:
  // All references must outlive this object.
  MemoryRaiser(const ProfileStore& profiles, kube::ProfileApi& api, const ClusterState& state)
      : profiles_(profiles), api_(api), state_(state) {}

  // Returns nullopt if there is no profile of the workload's process memory.
  std::optional<WorkloadMemory> MemoryFor(const std::string& of_namespace,
                                          const FailureRecord& failure) const;
  // Returns kNotFound if the profile is gone.
  Result<> Raise(const std::string& of_namespace, const FailureRecord& failure,
                 const MemoryRaise& raise, const std::stop_token& stop);

 private:
  const ProfileStore& profiles_;
  kube::ProfileApi& api_;
  const ClusterState& state_;
};

// Returns the most memory that a pod with these GPUs may get on any node. Without such a node,
// returns the largest amount that there is: nodes may come. `product`: as in MeasuredProfile.
Bytes MostMemoryOnNodes(const ClusterSnapshot& cluster, Gpus gpus, const std::string& product);

}  // namespace synergy::controller
