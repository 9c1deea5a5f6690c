#pragma once

// Runs the tuner on the leader only; the watches wake it, and it is idle while the cluster is not
// visible.
//
// Threading: one owner constructs, starts and stops it; the loop's thread decides, and
// ActionExecutor has its own threads.

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "config/controller_config.h"
#include "controller/cluster/leader_loop.h"
#include "controller/cluster/leadership.h"
#include "controller/cluster/waking_store.h"
#include "controller/cluster/watched_cluster.h"
#include "controller/profiles/oom_watch.h"
#include "controller/profiles/tuner_profiles.h"
#include "controller/progress/progress_unit.h"
#include "controller/tuner/action_executor.h"
#include "controller/tuner/storage_publisher.h"
#include "controller/tuner/tuner_calls.h"
#include "controller/tuner/tuner_driver.h"
#include "core/clock.h"
#include "core/log.h"
#include "engine/reservations/gpu_reservations.h"
#include "engine/storage/measured_storage.h"
#include "engine/tuner/tuner.h"
#include "kube/apis/events.h"
#include "kube/apis/pod_api.h"
#include "kube/apis/storage_api.h"
#include "kube/reflector.h"
#include "metrics/tuner_metrics.h"

namespace synergy::controller {

// Returns the task of a loop that steps the driver when something has changed, and when the
// driver's wake() is due. All references must outlive the task.
LeaderTask TuningTask(TunerDriver& driver, std::function<bool()> may_act, const Clock& clock);
// The period of that loop: how often it checks the leadership when there is no news.
inline constexpr Duration kTuningLook = std::chrono::milliseconds(100);

class TunerUnit {
 public:
  // `pods` is the store to which pods() forwards. `journal` receives all decisions; null: there is
  // no journal. All references must outlive this object.
  TunerUnit(const config::ControllerConfig& config, WatchedCluster& cluster, ProgressUnit& progress,
            kube::ObjectStore<Pod>& pods, kube::PodApi& pod_api, kube::StorageApi& storage_api,
            kube::EventRecorder& events, const Leadership& leadership, DecisionJournal* journal,
            const Clock& clock, Logger& log, metrics::TunerMetrics& metrics);

  // Return stores that forward the watches' reports, and wake the tuner.
  kube::ObjectStore<Pod>& pods() { return waking_pods_; }
  kube::ObjectStore<Node>& nodes() { return waking_nodes_; }

  // Sets the GPU reservations in force, and wakes the tuner if they have changed. They count for a
  // minute. Any thread may call it.
  void SetReservations(std::vector<GpuReservation> reservations);

  // Does nothing without tuner.enabled.
  void Start();
  void Stop();

 private:
  std::vector<GpuReservation> Reservations(Instant now) const;

  const bool enabled_;
  const bool publishes_;
  const Clock& clock_;
  Waker waker_;
  mutable std::mutex mutex_;  // guards the following two
  std::vector<GpuReservation> reservations_;
  Instant reservations_set_{};
  WakingStore<Pod> waking_pods_;
  WakingStore<Node> waking_nodes_;
  TunerProfiles profiles_;
  MeasuredStorage storage_;
  Tuner tuner_;
  TunerCalls calls_;
  std::unique_ptr<ActionExecutor> executor_;  // null after Stop()
  OomWatch oom_watch_;
  StoragePublisher publisher_;
  TunerDriver driver_;
  LeaderLoop loop_;
  LeaderLoop publishing_;
};

}  // namespace synergy::controller
