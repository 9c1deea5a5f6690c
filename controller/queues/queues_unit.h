#pragma once

// Runs rounds in Kueue's queues: watches Kueue's objects, decides on the leader whose turn it is,
// and answers the admission check of GPU types on all replicas, because a check that nobody answers
// stops the queue.
//
// Threading: the constructor, Start() and Stop() by one owner; one thread of its own, and the
// watches'.

#include <memory>
#include <optional>
#include <stop_token>

#include "config/controller_config.h"
#include "controller/cluster/api_clients.h"
#include "controller/cluster/leader_loop.h"
#include "controller/cluster/leadership.h"
#include "controller/cluster/watched_cluster.h"
#include "controller/progress/progress_book.h"
#include "controller/queues/round_queues.h"
#include "controller/queues/rounds_driver.h"
#include "controller/queues/type_checks.h"
#include "controller/queues/type_facts.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/apis/events.h"
#include "kube/apis/round_api.h"
#include "kube/watches.h"
#include "metrics/round_metrics.h"
#include "wire/objects/objects.h"

namespace synergy::controller {

class QueuesUnit {
 public:
  // All references outlive this.
  QueuesUnit(const config::ControllerConfig& config, const ApiClients& clients,
             const wire::ObjectReader& reader, WatchedCluster& cluster,
             const ProgressBook& progress, kube::EventRecorder& events,
             const Leadership& leadership, const Clock& clock, Logger& log,
             metrics::RoundMetrics& metrics);

  // With kueue.enabled.
  void Start();
  // Ends the thread that acts by the watches before these.
  void Stop();

 private:
  void StartWatches();
  bool LookAtQueues();
  void AnswerChecks(bool decided_here, const std::stop_token& stop);

  const config::ControllerConfig& config_;
  const Leadership& leadership_;
  const Clock& clock_;
  metrics::RoundMetrics& metrics_;
  RoundObjects objects_;
  const std::unique_ptr<kube::RoundApi> api_;
  TypeFacts type_facts_;
  RoundsDriver driver_;
  TypeChecks type_checks_;
  // Watches of their own: where Kueue is not there, or not well, all the rest goes on; and so do
  // its queues where Kubeflow Trainer is not. After the objects that they write into.
  kube::Watches kueue_watches_;
  kube::Watches trainer_watches_;
  // The two below belong to the loop's thread.
  bool current_ = false;  // Kueue's objects are known as they are
  Instant decided_{};     // when somebody was last known to decide
  LeaderLoop loop_;
};

}  // namespace synergy::controller
