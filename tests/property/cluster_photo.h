#pragma once

// The complete contents of a snapshot, in a form that can be compared and printed. ClusterState and
// its model must have the same.
//
// Threading: values.

#include <cstdint>
#include <iosfwd>
#include <map>
#include <set>
#include <string>

#include "cluster/state/cluster_snapshot.h"
#include "core/resources.h"

namespace synergy::testing {

struct NodePhoto {
  bool exists = false;
  bool unschedulable = false;
  bool deleting = false;
  int64_t pods_allowed = 0;
  ResourceVector allocatable;
  ResourceVector requested;
  ResourceVector of_others;
  int64_t cards = 0;        // allocatable of the one other resource
  int64_t cards_taken = 0;  // requested amount of it
  std::set<std::string> pods;

  bool operator==(const NodePhoto&) const = default;
};

struct ClusterPhoto {
  std::map<std::string, NodePhoto> nodes;  // existing nodes, and nodes with pods
  ResourceVector largest_node;
  ResourceVector least_per_gpu;
  size_t waiting_gpu_pods = 0;

  bool operator==(const ClusterPhoto&) const = default;
};

// Also checks that names and places are consistent.
ClusterPhoto PhotoOf(const ClusterSnapshot& snapshot);

std::ostream& operator<<(std::ostream& out, const ClusterPhoto& photo);

inline constexpr const char* kCard = "example.com/card";

}  // namespace synergy::testing
