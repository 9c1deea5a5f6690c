#include "cluster/disruption_budget.h"

#include <algorithm>

namespace synergy {

bool LabelSelector::Matches(const Labels& labels) const {
  return std::all_of(
      requirements.begin(), requirements.end(), [&labels](const Requirement& requirement) {
        const auto value = FindLabel(labels, requirement.key);
        const bool listed = value && std::find(requirement.values.begin(), requirement.values.end(),
                                               *value) != requirement.values.end();
        switch (requirement.op) {
          case Operator::kIn:
            return listed;
          case Operator::kNotIn:
            return !listed;
          case Operator::kExists:
            return value.has_value();
          case Operator::kDoesNotExist:
            return !value;
        }
        return false;
      });
}

}  // namespace synergy
