#pragma once

// The fields of a PodDisruptionBudget that preemption needs. Values.
//
// This file is separate because label selectors also serve the separation of pods.

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/labels.h"

namespace synergy {

// A Kubernetes label selector (metav1.LabelSelector): all requirements must match; an empty
// selector selects everything.
struct LabelSelector {
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist };
  struct Requirement {
    std::string key;
    Operator op = Operator::kIn;
    std::vector<std::string> values;

    bool operator==(const Requirement&) const = default;
  };

  std::vector<Requirement> requirements;

  bool Matches(const Labels& labels) const;
  bool operator==(const LabelSelector&) const = default;
};

struct DisruptionBudget {
  std::string uid;
  std::string pod_namespace;
  std::string name;
  LabelSelector selector;
  int64_t disruptions_allowed = 0;
  std::vector<std::string> disrupted_pods;  // names of pods whose eviction is already counted

  bool operator==(const DisruptionBudget&) const = default;
};

}  // namespace synergy
