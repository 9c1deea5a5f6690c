#pragma once

// Queries the node agents for their pods' progress and stores it. Every replica does this, so that
// each can answer requests, and the next leader has the data at once (docs/internals/progress.md).
//
// Threading: one owner calls Start() and the destructor; any thread may call PullDue().

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "cluster/state/cluster_snapshot.h"
#include "cluster/state/cluster_state.h"
#include "controller/progress/agent_directory.h"
#include "controller/progress/failure_reports.h"
#include "controller/progress/progress_store.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/result.h"
#include "http/client.h"
#include "metrics/controller_metrics.h"
#include "profile/pod_progress.h"

namespace synergy::controller {

// Filters the reports of a node agent: only managed pods on its own node count. So an attacker with
// the certificate of one node's agent can report nothing about pods of other nodes.

struct AcceptedProgress {
  std::vector<PodProgress> pods;  // with names from the API server
  size_t not_here = 0;            // dropped: no such pod on the node
  size_t not_managed = 0;         // dropped: Synergy does not manage it
};

// `node`: where the agent's pod runs, according to the API server.
AcceptedProgress AcceptReports(std::vector<PodProgress> reported, const std::string& node,
                               const ClusterSnapshot& cluster);

struct PullSettings {
  uint16_t port = 0;
  http::ClientTls tls;  // the agents' authority, and the controller's certificate
  size_t threads = 8;
  std::chrono::milliseconds timeout{2000};  // to connect, and between data; twice that per query
  // Returns whether current queries renew turns on GPUs (turn_renewal.h).
  std::function<bool()> renews_turns = [] { return false; };
  // With more agents than this, each query opens a new connection, because open connections use
  // descriptors.
  size_t kept_connections = 10000;
};

class ProgressPuller {
 public:
  // All references must outlive the result. Returns kInvalid if the certificates cannot be used.
  static Result<std::unique_ptr<ProgressPuller>> Create(
      AgentDirectory& agents, ProgressStore& store, FailureReports& failures,
      const ClusterState& state, metrics::ControllerMetrics& metrics, const Clock& clock,
      Logger& log, const PullSettings& settings);

  void Start();
  // Queries all agents that are due, one after another.
  void PullDue(const std::stop_token& stop);

 private:
  ProgressPuller(AgentDirectory& agents, ProgressStore& store, FailureReports& failures,
                 const ClusterState& state, metrics::ControllerMetrics& metrics, const Clock& clock,
                 Logger& log, const PullSettings& settings, std::unique_ptr<http::Client> keeping,
                 std::unique_ptr<http::Client> closing);

  void Pull(Agent agent, const std::stop_token& stop);
  // Returns an error if no progress could be read.
  Result<> Ask(Agent& agent, const std::stop_token& stop);

  AgentDirectory& agents_;
  ProgressStore& store_;
  FailureReports& failures_;
  const ClusterState& state_;
  metrics::ControllerMetrics& metrics_;
  const Clock& clock_;
  Logger& log_;
  const PullSettings settings_;
  // Templates for the agents' clients: one keeps its connection open, the other closes it.
  const std::unique_ptr<http::Client> keeping_;
  const std::unique_ptr<http::Client> closing_;
  std::vector<std::jthread> threads_;
};

}  // namespace synergy::controller
