#pragma once

// Stores the pods that the watch of living pods reports, and learns which nodes could not align a
// pod with their NUMA nodes. When a pod fails, that watch reports only its removal, with its state
// before the failure. So each GPU pod that leaves its node without being deleted is read once from
// the API server. The read is skipped if another GPU pod has left the node since, because the node
// may now be able to align such a pod.
//
// Threading: any thread. Failures: if the API server does not answer, the pod's node is not
// avoided.

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

  // Reads the ended pods from the API server, for at most two seconds. Call it about every second.
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
  std::deque<Unread> unread_;  // ended pods, oldest first; at most kMostUnread
  // The node of the pod that is being read; empty if another pod has left that node meanwhile.
  std::string reading_;
};

}  // namespace synergy::extender
