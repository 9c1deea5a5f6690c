#pragma once

// The cost of spreading a gang over several nodes, from a TrainingProfile (spreadSpeed, tensorSkew)
// or a pod's label. Speeds are relative to the speed on one node. The skew is Tiresias' (NSDI'19,
// section 3.3): the part of a model's parameters that is in its largest tensor.
//
// Threading: values, pure functions.

#include <optional>
#include <string>
#include <string_view>

namespace synergy {

struct SpreadCost {
  // Speed on several nodes of one rack.
  std::optional<double> nodes;
  // Speed on several racks. Set only with `nodes`; if not set, it is the same as `nodes`.
  std::optional<double> racks;
  std::optional<double> tensor_skew;

  bool operator==(const SpreadCost&) const = default;
};

// Returns "nodes=0.7,racks=0.5,tensor-skew=0.74": the known parts, in the order above.
std::string ToText(const SpreadCost& cost);
// Returns an empty cost for any other text, and for values not within 0 (exclusive for speeds) and
// 1.
SpreadCost ParseSpreadCost(std::string_view text);

}  // namespace synergy
