#pragma once

// Runs live profiling: steps every two seconds while this replica leads and sees the cluster. Each
// step measures (profiling_driver.h), gives running pods the measured profiles (profile_rollout.h),
// and deletes profiles no longer used (profile_collector.h).
//
// Threading: one owner constructs, starts and stops it; it has its own thread.

#include "admission/admission.h"
#include "config/controller_config.h"
#include "controller/cluster/leader_loop.h"
#include "controller/cluster/leadership.h"
#include "controller/cluster/profile_store.h"
#include "controller/cluster/watched_cluster.h"
#include "controller/profiles/profile_collector.h"
#include "controller/profiles/profile_mismatch.h"
#include "controller/profiles/profile_rollout.h"
#include "controller/profiling/profiling_actions.h"
#include "controller/profiling/profiling_driver.h"
#include "controller/progress/progress_unit.h"
#include "core/clock.h"
#include "core/log.h"
#include "engine/profiler/profiler.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "kube/apis/profile_api.h"
#include "metrics/profiling_metrics.h"

namespace synergy::controller {

class ProfilingUnit {
 public:
  // `admission`: the settings with which pods are admitted. All references must outlive this
  // object.
  ProfilingUnit(const config::ControllerConfig& config, const AdmissionSettings& admission,
                WatchedCluster& cluster, ProgressUnit& progress, ProfileMismatch& mismatch,
                kube::PodApi& pod_api, kube::ProfileApi& profile_api, kube::EventRecorder& events,
                const Leadership& leadership, const Clock& clock, Logger& log,
                metrics::ProfilingMetrics& metrics);

  // Does nothing unless both profiling.enabled and progress.enabled are set; logs a message if only
  // progress.enabled is missing.
  void Start();
  void Stop() { loop_.Stop(); }

 private:
  const config::ControllerConfig& config_;
  Logger& log_;
  StoredMeasurements measurements_;
  Profiler profiler_;
  ProfilingActions actions_;
  ProfilingDriver driver_;
  ProfileRollout rollout_;
  ProfileCollector collector_;
  LeaderLoop loop_;
};

}  // namespace synergy::controller
