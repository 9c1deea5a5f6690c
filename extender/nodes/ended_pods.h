#pragma once

// Stores what the watch of living pods reports, and learns which nodes could not align a pod with
// their NUMA nodes. The watch reports a pod that has failed as gone, in the state before that. So a
// GPU pod that leaves its node without having been deleted is read once from the API server, unless
// another one has left the node since: then the node may align such a pod now.
//
// Threading: any thread. Failures: if the API server does not answer, its node is not avoided.

#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "kube/apis/pod_api.h"
#include "kube/cluster_store.h"

namespace synergy::extender {

class EndedPods final : public kube::ObjectStore<Pod> {
 public:
  // All references must outlive this object.
  EndedPods(ClusterState& state, kube::PodApi& pods, const Clock& clock)
      : state_(state), store_(state), pods_(pods), clock_(clock) {}

  void Replace(std::vector<Pod> all) override { store_.Replace(std::move(all)); }
  void Upsert(Pod pod) override { store_.Upsert(std::move(pod)); }
  void Remove(const Pod& pod) override;

  // Call it about every second. It queries the API server, for two seconds at most.
  void Look();

 private:
  static constexpr size_t kMostUnread = 256;

  struct Unread {
    kube::PodIdentity pod;
    std::string node;
  };

  std::optional<Unread> TakeNext();

  ClusterState& state_;
  kube::PodStore store_;
  kube::PodApi& pods_;
  const Clock& clock_;
  std::mutex mutex_;
  std::deque<Unread> unread_;  // the last ones that have ended
  std::string reading_;  // the node of the pod that is being read; empty if another has left it
};

}  // namespace synergy::extender
