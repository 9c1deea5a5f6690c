#pragma once

// Keeps this replica's view of the cluster: the watches that all units need, the stores that they
// fill, and the data derived from these. The stores are empty until Start().
//
// Threading: one owner calls Start(), ShutDown() and Stop(); any thread may call NotReadyReason(),
// Complete() and AddGauges() between Start() and Stop(); the stores' headers state theirs.

#include <cstddef>
#include <memory>
#include <string>
#include <thread>

#include "admission/pod_to_admit.h"
#include "cluster/devices/device_objects.h"
#include "cluster/state/cluster_journal.h"
#include "cluster/state/cluster_state.h"
#include "config/controller_config.h"
#include "controller/cluster/cluster_view.h"
#include "controller/cluster/fair_share_cache.h"
#include "controller/cluster/keyed_store.h"
#include "controller/cluster/profile_store.h"
#include "controller/cluster/succeeded_counter.h"
#include "core/clock.h"
#include "core/log.h"
#include "kube/api_client.h"
#include "kube/cluster_store.h"
#include "kube/device_watches.h"
#include "kube/reflector.h"
#include "kube/watches.h"
#include "metrics/controller_metrics.h"
#include "wire/objects/objects.h"
#include "wire/objects/resize_status.h"

namespace synergy::controller {

class WatchedCluster {
 public:
  // `journal` receives each change; null: there is no journal. All references must outlive this
  // object.
  WatchedCluster(const config::ControllerConfig& config, kube::ApiClient& client,
                 const wire::ObjectReader& reader, ClusterJournal* journal, const Clock& clock,
                 Logger& log);
  ~WatchedCluster() { Stop(); }

  ClusterState& state() { return state_; }
  const ProfileStore& profiles() const { return profiles_; }
  const ClusterView& view() const { return view_; }
  bool HasNamespace(const std::string& name) const { return namespaces_.Find(name) != nullptr; }
  FairShareCache& fair_shares() { return fair_shares_; }
  // Returns the function that counts the GPUs of ResourceClaimTemplates for admission; null unless
  // dra.enabled.
  GpusOfTemplate gpus_of_template() const;
  // Return the stores through which watched objects enter state().
  kube::ObjectStore<Pod>& pods() { return pod_store_; }
  kube::ObjectStore<Node>& nodes() { return node_store_; }

  // Starts the watches, and keeps fair shares and Succeeded members fresh. `nodes` and `pods` must
  // forward to nodes() and pods(); `agents` receives the node agents if progress.enabled. All three
  // must live until Stop().
  void Start(kube::ObjectStore<Node>& nodes, kube::ObjectStore<Pod>& pods,
             kube::ObjectStore<wire::AgentPod>& agents);
  // Marks the replica permanently as not ready.
  void ShutDown();
  // Ends all threads.
  void Stop();

  // Returns why the view of the cluster is unusable; empty if it is usable.
  std::string NotReadyReason() const { return health_->NotReadyReason(); }
  // Returns whether every resource has been listed once.
  bool Complete() const { return watches_.Complete(); }
  // Adds the gauges of caches, pods, profiles and readiness. `agents`: the number of known node
  // agents.
  void AddGauges(metrics::ControllerGauges& gauges, size_t agents) const;

 private:
  const config::ControllerConfig& config_;
  const Clock& clock_;
  ClusterState state_;
  ProfileStore profiles_;
  const StoredProfiles stored_profiles_;
  KeyedStore<Namespace> namespaces_;
  KeyedStore<ResourceClaimTemplate> claim_templates_;
  FairShareCache fair_shares_;
  SucceededCounter succeeded_;
  kube::PodStore pod_store_;
  kube::NodeStore node_store_;
  kube::LimitRangeStore range_store_;
  kube::ResourceQuotaStore quota_store_;
  kube::DeviceWatches devices_;
  // Declared after the stores to which they write.
  kube::Watches watches_;
  const ClusterView view_;
  std::unique_ptr<kube::Health> health_;  // null before Start()
  std::jthread refreshing_;
  std::jthread counting_;
};

}  // namespace synergy::controller
