#pragma once

// What a gang loses when it does not train on one node: said by a TrainingProfile (spreadSpeed,
// tensorSkew) or by a pod's label. Speeds are relative to that on one node; the skew is Tiresias'
// (NSDI'19, section 3.3): the part of a model's parameters that its largest tensor has.
//
// Threading: values, pure functions.

#include <optional>
#include <string>
#include <string_view>

namespace synergy {

struct SpreadCost {
  std::optional<double> nodes;  // speed on several nodes of one rack
  std::optional<double> racks;  // speed over racks, known only with `nodes`; without it the same
  std::optional<double> tensor_skew;

  bool operator==(const SpreadCost&) const = default;
};

// "nodes=0.7,racks=0.5,tensor-skew=0.74": what is known, in the order above.
std::string ToText(const SpreadCost& cost);
// Nothing of what is no such text, or not within 0 (exclusive for speeds) and 1.
SpreadCost ParseSpreadCost(std::string_view text);

}  // namespace synergy
