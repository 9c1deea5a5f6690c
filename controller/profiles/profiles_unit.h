#pragma once

// Writes the statuses of TrainingProfiles, including whether pods contradict them.
//
// This file is separate because a unit is what the daemon starts and stops; its parts have files of
// their own.
//
// Threading: one owner constructs, starts and stops it; it has its own thread.

#include "config/controller_config.h"
#include "controller/cluster/leader_loop.h"
#include "controller/cluster/leadership.h"
#include "controller/cluster/watched_cluster.h"
#include "controller/profiles/profile_mismatch.h"
#include "controller/profiles/status_writer.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/profile_api.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

class ProfilesUnit {
 public:
  // All references must outlive this object.
  ProfilesUnit(const config::ControllerConfig& config, WatchedCluster& cluster,
               kube::ProfileApi& profile_api, kube::EventRecorder& events,
               const Leadership& leadership, const Clock& clock, Logger& log,
               metrics::ControllerMetrics& metrics);

  // Returns the part that processes the progress of pods that have profiles.
  ProfileMismatch& mismatch() { return mismatch_; }

  void Start() { writing_.Start(); }
  void Stop() { writing_.Stop(); }

 private:
  ProfileMismatch mismatch_;
  StatusWriter writer_;
  LeaderLoop writing_;
};

}  // namespace synergy::controller
