#pragma once

// Runs rounds in Kueue's queues: watches Kueue's objects, plans the rounds on the leader, and
// answers the admission check of GPU types on all replicas, because an unanswered check stops the
// queue.
//
// Threading: one owner constructs, starts and stops it. It has its own thread, and those of the
// watches.

#include <memory>
#include <optional>
#include <stop_token>

#include "config/controller_config.h"
#include "controller/cluster/api_clients.h"
#include "controller/cluster/leader_loop.h"
#include "controller/cluster/leadership.h"
#include "controller/cluster/watched_cluster.h"
#include "controller/progress/progress_store.h"
#include "controller/queues/queue_controller.h"
#include "controller/queues/queue_stores.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/round_api.h"
#include "kube/watches.h"
#include "metrics/round_metrics.h"
#include "queues/planner/queue_journal.h"
#include "queues/planner/queue_planner.h"
#include "queues/types/gpu_type_planner.h"
#include "queues/types/gpu_type_speeds.h"
#include "wire/objects/objects.h"

namespace synergy::controller {

class QueuesUnit {
 public:
  // All references and `journal`, which may be null, must outlive this object.
  QueuesUnit(const config::ControllerConfig& config, const ApiClients& clients,
             const wire::ObjectReader& reader, WatchedCluster& cluster,
             const ProgressStore& progress, kube::EventRecorder& events,
             const Leadership& leadership, QueueJournal* journal, const Clock& clock, Logger& log,
             metrics::RoundMetrics& metrics);

  // Starts the watches and the loop. Does nothing unless kueue.enabled.
  void Start();
  // Stops the loop, and then the watches that it reads.
  void Stop();

 private:
  void StartWatches();
  void LookAtQueues();
  void AnswerChecks(bool decided_here, const std::stop_token& stop);

  const config::ControllerConfig& config_;
  const Leadership& leadership_;
  const Clock& clock_;
  metrics::RoundMetrics& metrics_;
  QueueStores stores_;
  const std::unique_ptr<kube::RoundApi> api_;
  GpuTypeSpeeds type_speeds_;
  GpuTypePlanner types_;
  QueuePlanner planner_;
  QueueController controller_;
  // These watches are separate, so that everything else works without a healthy Kueue, and Kueue's
  // queues work without Kubeflow Trainer. Declared after the stores to which they write.
  kube::Watches kueue_watches_;
  kube::Watches trainer_watches_;
  // Only the loop's thread uses the two members below.
  bool current_ = false;  // whether Kueue's objects are current
  Instant decided_{};     // when a replica last decided, as far as this one knows
  LeaderLoop loop_;
};

}  // namespace synergy::controller
