#pragma once

// Clusters and pods made up by rapidcheck, for the algorithms that read a snapshot.

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

// Some nodes, some of them alike, and pods on them; a few more than fit.
struct RandomCluster {
  std::vector<Node> nodes;
  std::vector<Pod> pods;

  std::shared_ptr<const ClusterSnapshot> Snapshot() const { return Snapshot(nodes); }
  // With the nodes in another order.
  std::shared_ptr<const ClusterSnapshot> Snapshot(const std::vector<Node>& order) const;
};

// A GPU pod that waits, named "incoming", often with a demand.
rc::Gen<Pod> IncomingPod();

std::ostream& operator<<(std::ostream& out, const RandomCluster& cluster);

}  // namespace synergy::testing

namespace synergy {

// Found by rapidcheck where a pod is shown.
std::ostream& operator<<(std::ostream& out, const Pod& pod);

}  // namespace synergy

namespace rc {

template <>
struct Arbitrary<synergy::testing::RandomCluster> {
  static Gen<synergy::testing::RandomCluster> arbitrary();
};

}  // namespace rc
