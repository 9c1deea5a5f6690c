#pragma once

// The nodes that pods avoid after failures of the infrastructure, as the controller publishes them
// (docs/internals/failures.md, "Elsewhere"). A preference: it refuses no pod a node.
//
// Threading: from any thread.
// Failures: without the ConfigMap, or with one that cannot be read, no node is avoided.

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
  // Both outlive this.
  Elsewhere(const ClusterState& state, const Clock& clock) : state_(state), clock_(clock) {}

  // The reports of a watch of that one ConfigMap.
  void Replace(std::vector<PublishedAvoidedNodes> all) override;
  void Upsert(PublishedAvoidedNodes published) override;
  void Remove(const PublishedAvoidedNodes&) override { Upsert({}); }

  // Returns the nodes that the pod avoids, or that any member of its gang does.
  NodeSet AvoidedBy(const Pod& pod) const;

 private:
  const ClusterState& state_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  AvoidedNodes nodes_;
};

}  // namespace synergy::extender
