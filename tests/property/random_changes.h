#pragma once

// Arbitrary changes of a cluster with few nodes and few pods, so that they often interact. Each
// member of each object is set: mostly to likely values, sometimes to the limits of its range.

#include <iosfwd>
#include <string>

#include <rapidcheck.h>

#include "cluster/state/cluster_journal.h"

namespace synergy::testing {

// Returns the name of a pod or node; the uid equals the name.
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

// rapidcheck uses this to print a change.
std::ostream& operator<<(std::ostream& out, const ClusterChange& change);

}  // namespace synergy

namespace rc {

// Version and outcome are arbitrary.
template <>
struct Arbitrary<synergy::ClusterChange> {
  static Gen<synergy::ClusterChange> arbitrary();
};

}  // namespace rc
