// Tests invariants of SelectVictims: the victims suffice, and each of them is needed.

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "allocation/preemption.h"
#include "cluster/state/fit.h"
#include "property/random_cluster.h"

namespace synergy::testing {
namespace {

NodeState Without(const NodeState& node, const std::vector<std::shared_ptr<const Pod>>& pods,
                  const Pod* spared = nullptr) {
  NodeState state = node;
  for (const auto& pod : pods) {
    if (pod.get() != spared) state = WithoutPod(state, *pod);
  }
  return state;
}

RC_GTEST_PROP(PreemptionProperty, EnoughGoesAndNothingThatCouldStay,
              (const RandomCluster& cluster)) {
  ClusterState state;
  for (const Node& node : cluster.nodes) state.UpsertNode(node);
  for (const Pod& pod : cluster.pods) state.UpsertPod(pod);
  DisruptionBudget budget{
      .uid = "b", .pod_namespace = "team", .disruptions_allowed = *rc::gen::inRange(0, 3)};
  budget.selector.requirements.push_back({"app", LabelSelector::Operator::kIn, {"web"}});
  state.UpsertDisruptionBudget(budget);
  const auto snapshot = state.Snapshot();
  const Pod pod = *IncomingPod();

  for (NodeIndex i = 0; i < snapshot->size(); ++i) {
    const NodeState& node = snapshot->node(i);
    std::vector<std::string> proposed = {"never heard of"};
    std::vector<std::shared_ptr<const Pod>> there;
    for (const auto& candidate : node.detail->pods) {
      if (*rc::gen::inRange(0, 4) == 0) continue;
      proposed.push_back(candidate->uid);
      there.push_back(candidate);
    }
    const auto victims = SelectVictims(*snapshot, pod, i, proposed);
    const bool fits_already = CheckFit(pod, node).none();
    const bool all_are_enough = CheckFit(pod, Without(node, there)).none();
    RC_ASSERT(victims.has_value() == (!there.empty() && all_are_enough));
    if (!victims) continue;

    RC_ASSERT(!victims->pods.empty());
    for (const auto& victim : victims->pods) {
      RC_ASSERT(std::find(there.begin(), there.end(), victim) != there.end());
    }
    RC_ASSERT(victims->disruption_budget_violations <= static_cast<int64_t>(victims->pods.size()));
    RC_ASSERT(CheckFit(pod, Without(node, victims->pods)).none());
    if (fits_already) {
      RC_ASSERT(victims->pods.size() == there.size());
      continue;
    }
    for (const auto& victim : victims->pods) {
      RC_ASSERT(!CheckFit(pod, Without(node, victims->pods, victim.get())).none());
    }
  }
}

}  // namespace
}  // namespace synergy::testing
