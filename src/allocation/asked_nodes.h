#pragma once

// The nodes that a placement is asked about, in an order that belongs to whoever asks: those of a
// request, or of a recording of one.
//
// Threading: that of the caller.

#include <cstddef>
#include <optional>
#include <string_view>

#include "cluster/node.h"

namespace synergy {

class AskedNodes {
 public:
  virtual ~AskedNodes() = default;

  virtual size_t size() const = 0;
  // Valid as long as this.
  virtual std::string_view Name(size_t i) const = 0;
  // The node as it came with the question: for one that the cluster is not known to have.
  virtual std::optional<Node> Sent(size_t i) const = 0;
};

}  // namespace synergy
