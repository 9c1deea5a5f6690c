#pragma once

// Deletes measured profiles of workloads that have not run for a long time, so that profiles do not
// accumulate with every new image. It deletes only profiles that the controller created, one at a
// time.
//
// Threading: one owner. Failures: a failed deletion is logged, and retried after the others. A
// deletion that a finalizer delays counts as failed.

#include <functional>
#include <memory>
#include <set>
#include <stop_token>
#include <string>
#include <utility>

#include "cluster/state/cluster_state.h"
#include "controller/cluster/profile_store.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/profile_api.h"

namespace synergy::controller {

class ProfileCollector {
 public:
  // All references must outlive this object. `may_act` is checked before each deletion. `keep`: how
  // long a measured profile is kept after its last change.
  ProfileCollector(kube::ProfileApi& api, const ProfileStore& profiles, const ClusterState& state,
                   std::function<bool()> may_act, const Clock& clock, Logger& log, Duration keep)
      : api_(api),
        profiles_(profiles),
        state_(state),
        may_act_(std::move(may_act)),
        clock_(clock),
        log_(log),
        keep_(keep) {}

  // Call it often: it looks once a minute, and deletes at most one profile.
  void DeleteOneIfDue(const std::stop_token& stop);

 private:
  // Returns the profile to delete now, if possible one that is not in `tried_`; null if none is
  // due.
  std::shared_ptr<const KnownProfile> Next(WallTime now) const;
  // Returns whether a running or waiting pod belongs to the workload.
  bool InUse(const ProfileObject& object) const;

  kube::ProfileApi& api_;
  const ProfileStore& profiles_;
  const ClusterState& state_;
  const std::function<bool()> may_act_;
  const Clock& clock_;
  Logger& log_;
  const Duration keep_;
  Instant next_{};
  std::set<std::string> tried_;  // by uid, since every profile that is due had its turn
};

}  // namespace synergy::controller
