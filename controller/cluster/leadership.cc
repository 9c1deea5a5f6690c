#include "controller/cluster/leadership.h"

#include <utility>

#include <fmt/format.h>

#include "kube/apis/events.h"

namespace synergy::controller {
namespace {

std::unique_ptr<kube::LeaderElection> StartElection(const config::ControllerConfig& config,
                                                    kube::ApiClient& client, const Clock& clock,
                                                    Logger& log) {
  kube::LeaderElectionOptions options;
  options.lease_namespace = config.own_namespace;
  options.name = config.lease_name;
  // A restarted process counts as another candidate.
  options.identity =
      fmt::format("{}_{}", kube::InstanceName(), clock.WallNow().time_since_epoch().count());
  return kube::LeaderElection::Start(client, clock, log, std::move(options));
}

}  // namespace

Leadership::Leadership(const config::ControllerConfig& config, const ApiClients& clients,
                       const WatchedCluster& cluster, const http::Server& webhook_server,
                       const Clock& clock, Logger& log, metrics::TunerMetrics& metrics)
    : cluster_(cluster),
      webhook_server_(webhook_server),
      clock_(clock),
      metrics_(metrics),
      election_(StartElection(config, *clients.any, clock, log)) {
  *clients.election = election_.get();
}

bool Leadership::MayAct() const {
  const bool leads = IsLeader();
  metrics_.SetLeader(leads);
  // A replica that does not see pods, or cannot mutate new ones, must not change them, either.
  if (!leads || !cluster_.NotReadyReason().empty()) return false;
  const auto expiry = webhook_server_.CertificateExpiry();
  return !expiry || *expiry > clock_.WallNow();
}

}  // namespace synergy::controller
