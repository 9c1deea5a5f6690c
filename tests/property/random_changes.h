#pragma once

// Any event of a cluster, on few nodes and few pods so that they meet often, with every member of
// every object: mostly likely values, sometimes the ends of a member's range.

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

// Returns whether both are equal, including what they share with others.
bool Same(const Pod& a, const Pod& b);

}  // namespace synergy::testing

namespace synergy {

// rapidcheck finds it to print a change.
std::ostream& operator<<(std::ostream& out, const ClusterChange& change);

}  // namespace synergy

namespace rc {

// Its version and outcome have no meaning.
template <>
struct Arbitrary<synergy::ClusterChange> {
  static Gen<synergy::ClusterChange> arbitrary();
};

}  // namespace rc
