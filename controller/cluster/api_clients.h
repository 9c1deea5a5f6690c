#pragma once

// Clients of the API server, one per kind of call.
//
// Threading: the same as kube::ApiClient.
//
// This file is separate because units in all folders use it.

#include <atomic>
#include <memory>

#include "config/kubeconfig.h"
#include "core/result.h"
#include "kube/api_client.h"
#include "kube/leader_election.h"

namespace synergy::controller {

struct ApiClients {
  std::unique_ptr<kube::ApiClient> any;
  // Makes only the leader's writes; checks `election` before it repeats a refused one.
  std::unique_ptr<kube::ApiClient> acting;
  // Makes the reads for which a review waits.
  std::unique_ptr<kube::ApiClient> quick;
  // Null until the election is known. All threads that write through `acting` must end before the
  // election does.
  std::shared_ptr<std::atomic<const kube::LeaderElection*>> election =
      std::make_shared<std::atomic<const kube::LeaderElection*>>(nullptr);
};

Result<ApiClients> MakeApiClients(const config::ClusterAccess& access);

}  // namespace synergy::controller
