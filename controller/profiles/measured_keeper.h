#pragma once

// Deletes what was measured of workloads that nobody has run for long, so that profiles do not
// pile up with every new image: only what the controller has made itself, one at a time.
//
// Threading: one owner.
// Failures: what cannot be deleted is logged, and tried again later.

#include <stop_token>

#include "cluster/state/cluster_state.h"
#include "controller/cluster/profile_store.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/profile_api.h"

namespace synergy::controller {

class MeasuredKeeper {
 public:
  // All references outlive this. `keep`: since the last change of what was measured.
  MeasuredKeeper(kube::ProfileApi& api, const ProfileStore& profiles, const ClusterState& state,
                 const Clock& clock, Logger& log, Duration keep)
      : api_(api), profiles_(profiles), state_(state), clock_(clock), log_(log), keep_(keep) {}

  // Often: looks once a minute, and deletes one at most.
  void DeleteOneIfDue(const std::stop_token& stop);

 private:
  // Whether a pod, running or waiting, is of the workload.
  bool InUse(const ProfileObject& object) const;

  kube::ProfileApi& api_;
  const ProfileStore& profiles_;
  const ClusterState& state_;
  const Clock& clock_;
  Logger& log_;
  const Duration keep_;
  Instant next_{};
};

}  // namespace synergy::controller
