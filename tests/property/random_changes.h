#pragma once

// Anything that may happen to a cluster, on few nodes and few pods so that they meet often, with
// every member of every object: mostly likely values, sometimes the ends of what a member can say.

#include <iosfwd>
#include <string>

#include <rapidcheck.h>

#include "cluster/state/cluster_journal.h"

namespace synergy::testing {

// A pod's and a node's name; uids are names.
std::string ChangedPodName(int which);
inline constexpr int kChangedPods = 6;

Node AnyNode(uint64_t seed);
Pod AnyPod(uint64_t seed);
DisruptionBudget AnyDisruptionBudget(uint64_t seed);
LimitRange AnyLimitRange(uint64_t seed);
ResourceQuota AnyResourceQuota(uint64_t seed);

// Whether both say the same, what they share with others included.
bool Same(const Pod& a, const Pod& b);

}  // namespace synergy::testing

namespace synergy {

// Found by rapidcheck where a change is shown.
std::ostream& operator<<(std::ostream& out, const ClusterChange& change);

}  // namespace synergy

namespace rc {

// Its version and outcome mean nothing.
template <>
struct Arbitrary<synergy::ClusterChange> {
  static Gen<synergy::ClusterChange> arbitrary();
};

}  // namespace rc
