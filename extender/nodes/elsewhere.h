#pragma once

// The nodes that pods avoid after infrastructure failures, as the controller publishes them
// (docs/internals/failures.md, "Elsewhere"). This is only a preference: it refuses no node to a
// pod.
//
// This file is separate because its own watch fills it.
//
// Threading: any thread. Failures: if the ConfigMap is absent or unreadable, no node is avoided.

#include <mutex>
#include <vector>

#include "allocation/asked_nodes.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "engine/retries/avoided_nodes.h"
#include "kube/reflector.h"

namespace synergy::extender {

class Elsewhere final : public kube::ObjectStore<PublishedAvoidedNodes> {
 public:
  // Both arguments must outlive this object.
  Elsewhere(const ClusterState& state, const Clock& clock) : state_(state), clock_(clock) {}

  // Take the reports of a watch of that ConfigMap only.
  void Replace(std::vector<PublishedAvoidedNodes> all) override;
  void Upsert(PublishedAvoidedNodes published) override;
  void Remove(const PublishedAvoidedNodes&) override { Upsert({}); }

  // Returns the nodes that the pod, or any member of its gang, avoids.
  NodeSet AvoidedBy(const Pod& pod) const;

 private:
  const ClusterState& state_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  AvoidedNodes nodes_;
};

}  // namespace synergy::extender
