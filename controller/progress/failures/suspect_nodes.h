#pragma once

// Reports nodes on which jobs of several namespaces failed for a reason that the node may have
// caused. Operators get an event on the Node, and a gauge for an alert. No node is changed.
//
//   records of the last hour -> faults of nodes -> those of two namespaces -> SynergyNodeSuspect
//
// A fault is *proven* if no tenant can invent it (an Xid, or a reason or condition that Kubernetes
// reports); otherwise a log only *claims* it. Claims count only if two namespaces make them, so no
// namespace can bring a node under suspicion by itself. Evictions for planned work or for lack of
// room, and failures of other processes or of the network, are not faults of a node.
//
// Bounds: one event for each category of faults while a node is suspect.
//
// Threading: FindSuspectNodes() is pure; a SuspectNodes has one owner.

#include <chrono>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/pod_failure.h"
#include "cluster/state/cluster_state.h"
#include "core/clock.h"
#include "failure/category.h"
#include "kube/apis/events.h"
#include "metrics/controller_metrics.h"

namespace synergy::controller {

inline constexpr Duration kSuspectFor = std::chrono::hours(1);  // after a fault
inline constexpr size_t kNamespacesToSuspect = 2;

struct SuspectNode {
  std::string node;
  std::set<Category> categories;  // categories of the faults that count
  size_t namespaces = 0;          // in which jobs failed because of them
  bool proven = false;            // at least one of the faults is proven
};

// `histories`: by namespace, each sorted by time.
std::vector<SuspectNode> FindSuspectNodes(const std::map<std::string, FailureHistory>& histories,
                                          WallTime now);

class SuspectNodes {
 public:
  // All references must outlive this object.
  SuspectNodes(kube::EventRecorder& events, metrics::ControllerMetrics& metrics)
      : events_(events), metrics_(metrics) {}

  // Records new suspects. Ignores nodes that are not in the cluster.
  void Look(const std::map<std::string, FailureHistory>& histories, const ClusterSnapshot& cluster,
            WallTime now);
  // Forgets everything; until the next Look() no node is suspect.
  void StartOver();

 private:
  kube::EventRecorder& events_;
  metrics::ControllerMetrics& metrics_;
  std::map<std::string, std::set<Category>>
      reported_;  // suspect nodes, and the categories of their events
};

}  // namespace synergy::controller
