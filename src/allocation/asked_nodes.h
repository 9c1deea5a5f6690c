#pragma once

// The candidate nodes of a placement request, in the order in which the extender's request or its
// recording lists them.
//
// Threading: determined by the caller.

#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cluster/node.h"

namespace synergy {

using NodeSet = std::set<std::string, std::less<>>;

class AskedNodes {
 public:
  virtual ~AskedNodes() = default;

  virtual size_t size() const = 0;
  // Returns a name that stays valid as long as this object.
  virtual std::string_view Name(size_t i) const = 0;
  // Returns the node object of the request, for a node that the cluster state lacks; nullopt if the
  // request did not contain it.
  virtual std::optional<Node> Sent(size_t i) const = 0;
};

}  // namespace synergy
