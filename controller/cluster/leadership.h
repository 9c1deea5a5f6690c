#pragma once

// Decides whether this replica may change the cluster: it must be the elected leader, see fresh
// data, and have a working webhook.
//
// Threading: any thread; call MayAct() only after WatchedCluster::Start().

#include <cstdint>
#include <memory>

#include "config/controller_config.h"
#include "controller/cluster/api_clients.h"
#include "controller/cluster/watched_cluster.h"
#include "core/clock.h"
#include "core/log.h"
#include "http/server/server.h"
#include "kube/leader_election.h"
#include "metrics/tuner_metrics.h"

namespace synergy::controller {

class Leadership {
 public:
  // Enters the election and passes it to `clients.acting`. All references must outlive this object.
  // The destructor leaves the election; all threads that write through `clients.acting` must have
  // ended by then.
  Leadership(const config::ControllerConfig& config, const ApiClients& clients,
             const WatchedCluster& cluster, const http::Server& webhook_server, const Clock& clock,
             Logger& log, metrics::TunerMetrics& metrics);

  bool IsLeader() const { return election_->IsLeader(); }
  // Returns when any replica was last known to lead; the clock's epoch if never.
  Instant LedLast() const { return election_->LedLast(); }
  // Returns how many times this replica has begun to lead (kube::LeaderElection::Terms()).
  uint64_t Terms() const { return election_->Terms(); }
  // Returns whether this replica leads, is ready, and has a valid certificate. Also sets the leader
  // gauge.
  bool MayAct() const;

 private:
  const WatchedCluster& cluster_;
  const http::Server& webhook_server_;
  const Clock& clock_;
  metrics::TunerMetrics& metrics_;
  const std::unique_ptr<kube::LeaderElection> election_;
};

}  // namespace synergy::controller
