#pragma once

// Decides which nodes a pod's own nodeSelector, required node affinity and tolerations allow, as
// kube-scheduler's NodeAffinity and TaintToleration do.
//
// Threading: pure functions of values.

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/labels.h"
#include "cluster/node.h"

namespace synergy {

struct NodeRequirement {
  enum class Operator : uint8_t { kIn, kNotIn, kExists, kDoesNotExist, kGt, kLt, kUnknown };

  std::string key;
  Operator op = Operator::kUnknown;
  std::vector<std::string> values;
  bool is_field = false;  // from matchFields, whose only key is metadata.name

  bool operator==(const NodeRequirement&) const = default;
};

// All requirements must match; an empty term matches nothing.
using NodeSelectorTerm = std::vector<NodeRequirement>;

struct Toleration {
  std::string key;  // empty with `exists`: every taint
  std::string value;
  std::string effect;  // empty: every effect
  bool exists = false;

  bool operator==(const Toleration&) const = default;
};

struct NodeSelection {
  Labels node_selector;
  // With required node affinity, one of the terms must match.
  bool has_affinity = false;
  std::vector<NodeSelectorTerm> terms;
  std::vector<Toleration> tolerations;

  bool operator==(const NodeSelection&) const = default;
};

// Returns whether a pod with `selection` may go to a node with this name, these labels and these
// taints.
bool MayGoTo(const NodeSelection& selection, const std::string& node, const Labels& labels,
             const std::vector<Taint>& taints);

}  // namespace synergy
