#pragma once

// The cost of spreading a gang over several nodes, from a TrainingProfile (spreadSpeed, tensorSkew)
// or a pod's label. Speeds are relative to the speed on one node. The skew is that of Tiresias
// (NSDI'19, section 3.3): the fraction of a model's parameters that are in its largest tensor.
//
// Threading: values, pure functions.

#include <optional>
#include <string>
#include <string_view>

namespace synergy {

struct SpreadCost {
  // The speed on several nodes of one rack.
  std::optional<double> nodes;
  // The speed on several racks. It is set only with `nodes`; if not set, it equals `nodes`.
  std::optional<double> racks;
  std::optional<double> tensor_skew;

  bool operator==(const SpreadCost&) const = default;
};

// Returns the known parts, in the order above: "nodes=0.7,racks=0.5,tensor-skew=0.74".
std::string ToText(const SpreadCost& cost);
// Returns an empty cost for any other text, and for values outside the range from 0 (excluded for
// speeds) to 1.
SpreadCost ParseSpreadCost(std::string_view text);

}  // namespace synergy
