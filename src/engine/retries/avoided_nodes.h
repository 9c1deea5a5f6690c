#pragma once

// The nodes to which the next pods of a workload go only if no others have room, after failures of
// the infrastructure (retries.h: elsewhere). The controller publishes them for the extender.
//
// Bounds: kMost entries. Beyond that, the namespace with the most of them gives up the one that
// lapses first.
//
// Threading: values.

#include <cstddef>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/clock.h"

namespace synergy {

struct AvoidedNode {
  std::string of_namespace;
  std::string workload;  // of its pods (ManagedContainer)
  std::string node;
  WallTime until{};

  bool operator==(const AvoidedNode&) const = default;
};

class AvoidedNodes {
 public:
  // With names of the greatest length, they fit into a ConfigMap.
  static constexpr size_t kMost = 1000;

  // Adds an entry, or lets a known one last longer. Returns whether it did.
  bool Add(AvoidedNode entry);
  void DropLapsed(WallTime now);

  // Returns the nodes that pods of the workload avoid now.
  std::vector<std::string> Of(const std::string& of_namespace, const std::string& workload,
                              WallTime now) const;
  std::vector<AvoidedNode> All() const;
  bool empty() const { return until_.empty(); }

 private:
  void GiveUpOne();

  using Key = std::tuple<std::string, std::string, std::string>;  // namespace, workload, node

  std::map<Key, WallTime> until_;
};

// The same, as kept in a ConfigMap.
struct PublishedAvoidedNodes {
  std::string resource_version;  // the ConfigMap's; empty: there is none yet
  AvoidedNodes nodes;
};

}  // namespace synergy
