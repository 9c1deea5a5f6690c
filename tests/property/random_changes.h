#pragma once

// Arbitrary changes of a cluster with few nodes and few pods, so that they often interact, with
// every member of every object: mostly likely values, sometimes the limits of a member's range.

#include <iosfwd>
#include <string>

#include <rapidcheck.h>

#include "cluster/state/cluster_journal.h"

namespace synergy::testing {

// Names of pods and nodes; uids equal names.
std::string ChangedPodName(int which);
inline constexpr int kChangedPods = 6;

Node AnyNode(uint64_t seed);
Pod AnyPod(uint64_t seed);
DisruptionBudget AnyDisruptionBudget(uint64_t seed);
LimitRange AnyLimitRange(uint64_t seed);
ResourceQuota AnyResourceQuota(uint64_t seed);

// Returns whether both are equal, including the data that they share with others.
bool Same(const Pod& a, const Pod& b);

}  // namespace synergy::testing

namespace synergy {

// rapidcheck finds this when it prints a change.
std::ostream& operator<<(std::ostream& out, const ClusterChange& change);

}  // namespace synergy

namespace rc {

// Version and outcome have arbitrary values.
template <>
struct Arbitrary<synergy::ClusterChange> {
  static Gen<synergy::ClusterChange> arbitrary();
};

}  // namespace rc
