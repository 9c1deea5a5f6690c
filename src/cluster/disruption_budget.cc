#include "cluster/disruption_budget.h"

#include <algorithm>

namespace synergy {

bool LabelSelector::Matches(const Labels& labels) const {
  return std::all_of(
      requirements.begin(), requirements.end(), [&labels](const Requirement& requirement) {
        const auto it = std::find_if(
            labels.begin(), labels.end(),
            [&requirement](const auto& label) { return label.first == requirement.key; });
        const bool present = it != labels.end();
        const bool listed =
            present && std::find(requirement.values.begin(), requirement.values.end(),
                                 it->second) != requirement.values.end();
        switch (requirement.op) {
          case Operator::kIn:
            return listed;
          case Operator::kNotIn:
            return !listed;
          case Operator::kExists:
            return present;
          case Operator::kDoesNotExist:
            return !present;
        }
        return false;
      });
}

}  // namespace synergy
