// Tests PlanGangLocally on random clusters with nodes in random racks.

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "allocation/gangs/gang_locality.h"
#include "cluster/state/fit.h"
#include "property/random_cluster.h"

namespace synergy::testing {
namespace {

using std::chrono::seconds;
using Members = std::vector<std::shared_ptr<const Pod>>;

constexpr char kRack[] = "rack";

bool Everywhere(size_t, NodeIndex) { return true; }

Members SomeMembers() {
  const Pod shape = *IncomingPod();
  RC_PRE(shape.UsesGpus());
  Members members;
  for (int64_t i = *rc::gen::inRange(1, 6); i > 0; --i) {
    Pod member = shape;
    member.uid = "member " + std::to_string(i);
    member.node.clear();
    members.push_back(std::make_shared<const Pod>(std::move(member)));
  }
  return members;
}

// Returns the cluster's nodes, each in one of two racks, or in none.
std::shared_ptr<const ClusterSnapshot> InRacks(RandomCluster cluster) {
  for (Node& node : cluster.nodes) {
    const int64_t rack = *rc::gen::inRange(0, 3);
    if (rack > 0) node.labels = {{kRack, std::to_string(rack)}};
  }
  return cluster.Snapshot();
}

LocalityRules SomeRules() {
  return {.node_wait = seconds(*rc::gen::inRange(0, 3)),
          .rack_wait = seconds(*rc::gen::inRange(0, 3)),
          .rack_label = kRack};
}

std::set<NodeIndex> NodesIn(const LocalPlan& plan) {
  return {plan.plan.places.begin(), plan.plan.places.end()};
}

std::set<std::string> RacksIn(const LocalPlan& plan, const ClusterSnapshot& snapshot) {
  std::set<std::string> racks;
  for (const NodeIndex node : plan.plan.places) {
    racks.emplace(FindLabel(snapshot.node(node).detail->labels, kRack).value_or(""));
  }
  return racks;
}

LocalPlan PlanAt(const ClusterSnapshot& snapshot, const Members& members,
                 const LocalityRules& rules, int64_t waited) {
  return PlanGangLocally(snapshot, members, {}, Everywhere, rules, {}, seconds(waited));
}

RC_GTEST_PROP(GangLocalityProperty, PlacesAllOrNoneWithinItsDomain,
              (const RandomCluster& cluster)) {
  const auto snapshot = InRacks(cluster);
  const Members members = SomeMembers();
  const LocalPlan plan = PlanAt(*snapshot, members, SomeRules(), *rc::gen::inRange(0, 6));
  RC_ASSERT(plan.plan.places.empty() || plan.plan.places.size() == members.size());
  RC_CLASSIFY(plan.waits_until.has_value(), "waits");
  if (plan.plan.places.empty()) return;
  RC_ASSERT(!plan.waits_until);
  std::vector<NodeState> nodes;
  for (NodeIndex node = 0; node < snapshot->size(); ++node) nodes.push_back(snapshot->node(node));
  for (size_t i = 0; i < members.size(); ++i) {
    NodeState& node = nodes.at(plan.plan.places[i]);
    RC_ASSERT(CheckFit(*members[i], node).none());
    node = WithPod(node, members[i]);
  }
  RC_ASSERT((plan.tier == SpreadTier::kNode) == (NodesIn(plan).size() == 1));
  const std::set<std::string> racks = RacksIn(plan, *snapshot);
  if (plan.tier == SpreadTier::kRack) RC_ASSERT(racks.size() == 1 && !racks.contains(""));
}

RC_GTEST_PROP(GangLocalityProperty, WithoutWaitsItIsThePlanOfAnyGang,
              (const RandomCluster& cluster)) {
  const auto snapshot = InRacks(cluster);
  const Members members = SomeMembers();
  const LocalPlan plan = PlanAt(*snapshot, members, {.node_wait = {}, .rack_wait = {}}, 0);
  RC_ASSERT(!plan.waits_until);
  RC_ASSERT(plan.plan.places == PlanGang(*snapshot, members, {}, Everywhere).places);
}

RC_GTEST_PROP(GangLocalityProperty, WaitsOnlyForWhatIsBetterAndNotForEver,
              (const RandomCluster& cluster)) {
  const auto snapshot = InRacks(cluster);
  const Members members = SomeMembers();
  const LocalityRules rules = SomeRules();
  const bool fits = !PlanGang(*snapshot, members, {}, Everywhere).places.empty();
  // When all waits are over, the gang is placed if there is room anywhere.
  RC_ASSERT(fits == !PlanAt(*snapshot, members, rules, 4).plan.places.empty());
  for (int64_t waited = 0; waited < 4; ++waited) {
    const LocalPlan plan = PlanAt(*snapshot, members, rules, waited);
    if (!plan.waits_until) {
      RC_ASSERT(fits == !plan.plan.places.empty());
      continue;
    }
    RC_ASSERT(fits);
    RC_ASSERT(*plan.waits_until > seconds(waited));
    RC_ASSERT(*plan.waits_until <= rules.node_wait + rules.rack_wait);
    // At that moment the gang may use the next tier, or it has places.
    const LocalPlan then =
        PlanGangLocally(*snapshot, members, {}, Everywhere, rules, {}, *plan.waits_until);
    RC_ASSERT(!then.plan.places.empty() || then.tier > plan.tier);
  }
}

}  // namespace
}  // namespace synergy::testing
