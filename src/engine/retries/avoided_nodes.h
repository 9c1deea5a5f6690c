#pragma once

// Lists nodes to avoid after infrastructure failures (retries.h: elsewhere). A workload's next pods
// use these nodes only if no others have room. The controller publishes the list for the extender.
//
// Bounds: kMost entries. At the limit, the namespace with the most entries loses the one that
// expires first.
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
  std::string workload;  // as in ManagedContainer
  std::string node;
  WallTime until{};

  bool operator==(const AvoidedNode&) const = default;
};

class AvoidedNodes {
 public:
  // This many entries fit into a ConfigMap even with names of maximum length.
  static constexpr size_t kMost = 1000;

  // Adds an entry, or extends a known one. Returns whether it did either.
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

// The same list, as kept in a ConfigMap.
struct PublishedAvoidedNodes {
  std::string resource_version;  // of the ConfigMap; empty: there is none yet
  AvoidedNodes nodes;
};

}  // namespace synergy
