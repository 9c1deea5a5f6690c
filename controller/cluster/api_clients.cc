#include "controller/cluster/api_clients.h"

#include <chrono>
#include <utility>

namespace synergy::controller {
namespace {

// Limits each request that a review waits for. GangOwners also limits the total time of a review's
// reads.
constexpr std::chrono::seconds kReviewRead{20};

}  // namespace

Result<ApiClients> MakeApiClients(const config::ClusterAccess& access) {
  ApiClients clients;
  const auto make = [&access](kube::ApiClientOptions options) {
    options.user_agent = "synergy-controller";
    return kube::ApiClient::Create(access, std::move(options));
  };
  auto any = make({});
  if (!any) return Fail(any.error());
  auto acting = make({.may_repeat_writes = [election = clients.election] {
    const kube::LeaderElection* const known = election->load();
    return known == nullptr || known->IsLeader();
  }});
  if (!acting) return Fail(acting.error());
  auto quick = make({.request_timeout = kReviewRead, .most_tries = 1});
  if (!quick) return Fail(quick.error());
  clients.any = *std::move(any);
  clients.acting = *std::move(acting);
  clients.quick = *std::move(quick);
  return clients;
}

}  // namespace synergy::controller
