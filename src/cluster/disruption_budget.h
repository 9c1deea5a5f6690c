#pragma once

// A PodDisruptionBudget, as far as pre-emption needs it. Values.

#include <cstdint>
#include <string>
#include <vector>

#include "cluster/pod.h"

namespace synergy {

// A Kubernetes label selector (metav1.LabelSelector): all requirements must hold; none at all
// selects everything.
struct LabelSelector {
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist };
  struct Requirement {
    std::string key;
    Operator op = Operator::kIn;
    std::vector<std::string> values;
  };

  std::vector<Requirement> requirements;

  bool Matches(const Labels& labels) const;
};

struct DisruptionBudget {
  std::string uid;
  std::string pod_namespace;
  std::string name;
  LabelSelector selector;
  int64_t disruptions_allowed = 0;
  std::vector<std::string> disrupted_pods;  // names whose eviction is already counted
};

}  // namespace synergy
