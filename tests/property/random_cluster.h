#pragma once

// Clusters and pods that rapidcheck generates, for the algorithms that read a snapshot.

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "cluster/node.h"
#include "cluster/pod.h"
#include "cluster/state/cluster_state.h"

namespace synergy::testing {

// Returns some nodes, some of them alike, and pods on them; a few more than fit.
struct RandomCluster {
  std::vector<Node> nodes;
  std::vector<Pod> pods;

  std::shared_ptr<const ClusterSnapshot> Snapshot() const { return Snapshot(nodes); }
  // The same with the nodes in another order.
  std::shared_ptr<const ClusterSnapshot> Snapshot(const std::vector<Node>& order) const;
};

// Returns a waiting GPU pod, named "incoming", often with a demand.
rc::Gen<Pod> IncomingPod();

std::ostream& operator<<(std::ostream& out, const RandomCluster& cluster);

}  // namespace synergy::testing

namespace synergy {

// rapidcheck finds it to print a pod.
std::ostream& operator<<(std::ostream& out, const Pod& pod);

}  // namespace synergy

namespace rc {

template <>
struct Arbitrary<synergy::testing::RandomCluster> {
  static Gen<synergy::testing::RandomCluster> arbitrary();
};

}  // namespace rc
