#pragma once

// Which nodes a pod may go to, by its own words: nodeSelector, required node affinity and
// tolerations, as kube-scheduler's NodeAffinity and TaintToleration judge them.
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
  bool is_field = false;  // of matchFields, whose one key is metadata.name

  bool operator==(const NodeRequirement&) const = default;
};

// All of them have to hold; an empty term matches nothing.
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
  // One of them has to match, if there is required node affinity at all.
  bool has_affinity = false;
  std::vector<NodeSelectorTerm> terms;
  std::vector<Toleration> tolerations;

  bool operator==(const NodeSelection&) const = default;
};

// Whether a pod that says `selection` may go to a node of this name, with these labels and taints.
bool MayGoTo(const NodeSelection& selection, const std::string& node, const Labels& labels,
             const std::vector<Taint>& taints);

}  // namespace synergy
