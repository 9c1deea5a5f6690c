#include "engine/decisions.h"

namespace synergy {
namespace decision {

std::vector<PreemptionVictims> Describe(const std::vector<NodeVictims>& chosen) {
  std::vector<PreemptionVictims> described;
  for (const auto& [node, victims] : chosen) {
    PreemptionVictims& each = described.emplace_back();
    each.node = node;
    for (const auto& victim : victims.pods) each.uids.push_back(victim->uid);
    each.disruption_budget_violations = victims.disruption_budget_violations;
  }
  return described;
}

}  // namespace decision
}  // namespace synergy
