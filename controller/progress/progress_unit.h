#pragma once

// Queries the node agents for the progress of pods, keeps it, and serves it, on every replica,
// whether leader or not.
//
// Threading: one owner constructs it and calls Open(), Start(), Serve() and Stop(); ProgressPuller
// and ProgressServer have their own threads.

#include <memory>

#include "cluster/state/cluster_state.h"
#include "config/controller_config.h"
#include "controller/progress/agent_directory.h"
#include "controller/progress/failure_reports.h"
#include "controller/progress/progress_answer.h"
#include "controller/progress/progress_puller.h"
#include "controller/progress/progress_server.h"
#include "controller/progress/progress_store.h"
#include "controller/progress/turn_renewal.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "kube/api_client.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

class ProgressUnit {
 public:
  // All references must outlive this object.
  ProgressUnit(const config::ControllerConfig& config, const ClusterState& state,
               kube::ApiClient& client, const Clock& clock, Logger& log,
               metrics::ControllerMetrics& metrics);

  AgentDirectory& agents() { return agents_; }
  ProgressStore& store() { return store_; }
  FailureReports& failures() { return failures_; }
  TurnRenewal& turn_renewal() { return turn_renewal_; }

  // Reads the certificates for node agents if progress.enabled; kInvalid if they cannot be used.
  Result<> Open();
  // Starts to query node agents if Open() has read certificates.
  void Start();
  // Starts to serve if progress.listen is set.
  Result<> Serve();
  // Stops the server first, then the queries.
  void Stop();

 private:
  const config::ControllerConfig& config_;
  const ClusterState& state_;
  kube::ApiClient& client_;
  const Clock& clock_;
  Logger& log_;
  metrics::ControllerMetrics& metrics_;
  AgentDirectory agents_;
  ProgressStore store_;
  FailureReports failures_;
  TurnRenewal turn_renewal_;
  ProgressAnswers answers_;
  std::unique_ptr<ProgressPuller> puller_;  // null without progress.enabled
  std::unique_ptr<ProgressServer> server_;  // null without progress.listen
};

}  // namespace synergy::controller
