#pragma once

// Keeps the cluster as this replica sees it: the watches that all parts need, the stores that they
// feed, and what follows from these. The stores are empty until Start().
//
// Threading: Start(), ShutDown() and Stop() by one owner; NotReadyReason(), Complete() and
// AddGauges() from any thread between Start() and Stop(); the stores as they say themselves.

#include <cstddef>
#include <memory>
#include <string>
#include <thread>

#include "cluster/state/cluster_journal.h"
#include "cluster/state/cluster_state.h"
#include "config/controller_config.h"
#include "controller/cluster/cluster_view.h"
#include "controller/cluster/fair_share_cache.h"
#include "controller/cluster/namespace_store.h"
#include "controller/cluster/profile_store.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/api_client.h"
#include "kube/cluster_store.h"
#include "kube/reflector.h"
#include "kube/watches.h"
#include "metrics/controller_metrics.h"
#include "wire/objects/agent_pod.h"
#include "wire/objects/objects.h"

namespace synergy::controller {

class WatchedCluster {
 public:
  // Tells `journal` of each change; null: none. All that it refers to outlives this.
  WatchedCluster(const config::ControllerConfig& config, kube::ApiClient& client,
                 const wire::ObjectReader& reader, ClusterJournal* journal, const Clock& clock,
                 Logger& log);
  ~WatchedCluster() { Stop(); }

  ClusterState& state() { return state_; }
  const ProfileStore& profiles() const { return profiles_; }
  const ClusterView& view() const { return view_; }
  FairShareCache& fair_shares() { return fair_shares_; }
  // Return stores that take what is watched into state().
  kube::ObjectStore<Pod>& pods() { return pod_store_; }
  kube::ObjectStore<Node>& nodes() { return node_store_; }

  // Starts the watches, and keeps fair shares fresh. `nodes` and `pods` pass on to nodes() and
  // pods(); `agents` hears of the node agents, with progress.enabled. All three outlive Stop().
  void Start(kube::ObjectStore<Node>& nodes, kube::ObjectStore<Pod>& pods,
             kube::ObjectStore<wire::AgentPod>& agents);
  // Makes the replica not ready for good.
  void ShutDown();
  // Ends all threads.
  void Stop();

  // Returns why the cluster is not seen; empty: it is.
  std::string NotReadyReason() const { return health_->NotReadyReason(); }
  // Returns whether everything has been listed once.
  bool Complete() const { return watches_.Complete(); }
  // Adds what is known of caches, pods, profiles and readiness. `agents`: how many are known.
  void AddGauges(metrics::ControllerGauges& gauges, size_t agents) const;

 private:
  const config::ControllerConfig& config_;
  const Clock& clock_;
  ClusterState state_;
  ProfileStore profiles_;
  const StoredProfiles stored_profiles_;
  NamespaceStore namespaces_;
  FairShareCache fair_shares_;
  kube::PodStore pod_store_;
  kube::NodeStore node_store_;
  kube::LimitRangeStore range_store_;
  kube::ResourceQuotaStore quota_store_;
  // After the stores that they write into.
  kube::Watches watches_;
  const ClusterView view_;
  std::unique_ptr<kube::Health> health_;  // null before Start()
  std::jthread refreshing_;
};

}  // namespace synergy::controller
