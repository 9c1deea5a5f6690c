#pragma once

// The clients of the API server, each for another kind of call.
//
// Threading: as kube::ApiClient.

#include <atomic>
#include <memory>

#include "config/kubeconfig.h"
#include "core/result.h"
#include "kube/api_client.h"
#include "kube/leader_election.h"

namespace synergy::controller {

struct ApiClients {
  std::unique_ptr<kube::ApiClient> any;
  // Makes the writes of the leader alone: before a refused one is repeated, `election` is asked.
  std::unique_ptr<kube::ApiClient> acting;
  // Makes reads that a review waits for.
  std::unique_ptr<kube::ApiClient> quick;
  // Null: not yet known. Threads that write by `acting` end before the election does.
  std::shared_ptr<std::atomic<const kube::LeaderElection*>> election =
      std::make_shared<std::atomic<const kube::LeaderElection*>>(nullptr);
};

Result<ApiClients> MakeApiClients(const config::ClusterAccess& access);

}  // namespace synergy::controller
