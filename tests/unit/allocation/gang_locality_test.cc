#include "allocation/gangs/gang_locality.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/allocation/allocation_fixture.h"

namespace synergy::testing {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kRack[] = "topology.kubernetes.io/rack";

class GangLocalityTest : public AllocationFixture {
 protected:
  using Members = std::vector<std::shared_ptr<const Pod>>;

  void HaveNodeIn(const std::string& rack, const std::string& name, int64_t taken = 0) {
    Node node = MakeNode(name, kServer);
    node.labels = {{kRack, rack}};
    state.UpsertNode(node);
    if (taken > 0) Taken(name, {Gpus(taken), Cores(taken), GiB(taken)});
  }
  static Members Alike(size_t count, int64_t gpus) {
    Members members;
    for (size_t i = 0; i < count; ++i) {
      members.push_back(std::make_shared<const Pod>(MakeGpuPod("m" + std::to_string(i), gpus)));
    }
    return members;
  }

  // Returns the name of each member's node.
  std::vector<std::string> Plan(const Members& members, seconds waited = seconds(0),
                                const SpreadCost& cost = {},
                                const std::vector<std::string>& beside = {}) {
    snapshot = state.Snapshot();
    std::vector<NodeIndex> running;
    for (const std::string& name : beside) running.push_back(*snapshot->Find(name));
    plan = PlanGangLocally(
        *snapshot, members, {}, [](size_t, NodeIndex) { return true; }, rules, cost, waited,
        running);
    std::vector<std::string> names;
    for (const NodeIndex place : plan.plan.places)
      names.push_back(snapshot->node(place).detail->name);
    return names;
  }

  LocalityRules rules{.node_wait = seconds(30), .rack_wait = seconds(40), .rack_label = kRack};
  LocalPlan plan;
};

TEST_F(GangLocalityTest, WaitsForANodeThenForARackThenGoesAnywhere) {
  HaveNodeIn("r1", "a", 4);
  HaveNodeIn("r2", "b", 4);
  HaveNodeIn("r1", "c", 8);
  const Members members = Alike(2, 4);
  EXPECT_THAT(Plan(members), IsEmpty());
  EXPECT_EQ(plan.tier, SpreadTier::kNode);
  EXPECT_EQ(plan.waits_until, seconds(30));
  EXPECT_THAT(Plan(members, seconds(29)), IsEmpty());
  EXPECT_THAT(Plan(members, seconds(30)), IsEmpty());
  EXPECT_EQ(plan.tier, SpreadTier::kRack);
  EXPECT_EQ(plan.waits_until, seconds(70));
  EXPECT_THAT(Plan(members, seconds(70)), ElementsAre("a", "b"));
  EXPECT_EQ(plan.tier, SpreadTier::kAnywhere);
  EXPECT_FALSE(plan.waits_until);
}

TEST_F(GangLocalityTest, TakesTheBestTierThatHasRoom) {
  HaveNodeIn("r1", "a", 4);
  HaveNodeIn("r2", "b", 4);
  HaveNodeIn("r2", "c", 4);
  EXPECT_THAT(Plan(Alike(2, 4), seconds(30)), ElementsAre("b", "c"));
  EXPECT_EQ(plan.tier, SpreadTier::kRack);
  HaveNodeIn("r3", "d");
  EXPECT_THAT(Plan(Alike(2, 4), seconds(1000)), ElementsAre("d", "d"));
  EXPECT_EQ(plan.tier, SpreadTier::kNode);
}

TEST_F(GangLocalityTest, PrefersTheFullerRackIfItNeedsNoMoreNodes) {
  HaveNodeIn("r1", "a", 3);
  HaveNodeIn("r1", "b");
  HaveNodeIn("r2", "d");
  HaveNodeIn("r2", "e", 4);
  EXPECT_THAT(Plan(Alike(3, 4)), ElementsAre("d", "d", "e"));
  Taken("d", {Gpus(4), Cores(4), GiB(4)});
  HaveNodeIn("r2", "f", 4);
  EXPECT_THAT(Plan(Alike(3, 4)), ElementsAre("b", "b", "a"));
}

TEST_F(GangLocalityTest, DoesNotWaitForATierThatCouldNeverHoldIt) {
  HaveNodeIn("r1", "a", 4);
  HaveNodeIn("r2", "b");
  HaveNodeIn("r2", "c", 4);
  EXPECT_THAT(Plan(Alike(3, 4)), ElementsAre("b", "b", "c")) << "larger than a node";
  EXPECT_EQ(plan.tier, SpreadTier::kRack);
  EXPECT_THAT(Plan(Alike(4, 4)), IsEmpty()) << "r2 could hold it";
  EXPECT_EQ(plan.tier, SpreadTier::kRack);
  EXPECT_EQ(plan.waits_until, seconds(40)) << "nothing was waited for before";
  Node small = MakeNode("c", {Gpus(4), Cores(24), GiB(500)});
  small.labels = {{kRack, "r2"}};
  state.UpsertNode(small);
  EXPECT_THAT(Plan(Alike(4, 4)), IsEmpty());
  EXPECT_FALSE(plan.waits_until) << "there is no room at all";
}

TEST_F(GangLocalityTest, WithoutRacksItWaitsForANodeAlone) {
  rules.rack_label.clear();
  HaveNodeIn("r1", "a", 4);
  HaveNodeIn("r1", "b", 4);
  EXPECT_THAT(Plan(Alike(2, 4), seconds(29)), IsEmpty());
  EXPECT_THAT(Plan(Alike(2, 4), seconds(30)), ElementsAre("a", "b"));
  EXPECT_EQ(plan.tier, SpreadTier::kAnywhere);
}

TEST_F(GangLocalityTest, NodesWithoutTheLabelAreOfNoRack) {
  HaveNode("a");
  HaveNode("b");
  HaveNodeIn("r1", "c", 4);
  EXPECT_THAT(Plan(Alike(4, 4)), ElementsAre("a", "a", "b", "b"));
  EXPECT_EQ(plan.tier, SpreadTier::kAnywhere);
}

TEST_F(GangLocalityTest, SpreadsAtOnceAGangThatLosesNothingByIt) {
  HaveNodeIn("r1", "a", 4);
  HaveNodeIn("r2", "b", 4);
  EXPECT_THAT(Plan(Alike(2, 4), seconds(0), {.nodes = 0.99}), ElementsAre("a", "b"));
  EXPECT_THAT(Plan(Alike(2, 4), seconds(0), {.nodes = 0.7}), IsEmpty());
  EXPECT_THAT(Plan(Alike(2, 4), seconds(0), {.tensor_skew = 0.1}), ElementsAre("a", "b"));
  EXPECT_THAT(Plan(Alike(2, 4), seconds(0), {.tensor_skew = 0.7}), IsEmpty());
}

TEST_F(GangLocalityTest, WaitsForEachTierByItsCost) {
  const auto waits = [this](const SpreadCost& cost) { return WaitsOf(rules, cost); };
  const LocalityWaits both{seconds(30), seconds(40)};
  EXPECT_EQ(waits({}), both);
  EXPECT_EQ(waits({.nodes = 0.7, .racks = 0.5}), both);
  EXPECT_EQ(waits({.nodes = 0.98, .racks = 0.5}), (LocalityWaits{{}, seconds(40)}));
  EXPECT_EQ(waits({.nodes = 0.7, .racks = 0.69}), (LocalityWaits{seconds(30), {}}));
  EXPECT_EQ(waits({.nodes = 0.7}), (LocalityWaits{seconds(30), {}}));
  EXPECT_EQ(waits({.nodes = 1, .racks = 1}), LocalityWaits{});
  EXPECT_EQ(waits({.nodes = 0.7, .racks = 0.5, .tensor_skew = 0}), both) << "a speed tells more";
  EXPECT_EQ(waits({.tensor_skew = 0.138}), LocalityWaits{}) << "Inception-3";
  EXPECT_EQ(waits({.tensor_skew = 0.611}), both) << "AlexNet";
}

TEST_F(GangLocalityTest, AReplacementGoesBesideTheOthersAndNeverWaits) {
  HaveNodeIn("r1", "a", 6);
  HaveNodeIn("r1", "b", 4);
  HaveNodeIn("r2", "c", 7);
  EXPECT_THAT(Plan(Alike(1, 1), seconds(0), {}, {"a"}), ElementsAre("a"));
  EXPECT_EQ(plan.tier, SpreadTier::kNode);
  EXPECT_THAT(Plan(Alike(1, 4), seconds(0), {}, {"a"}), ElementsAre("b"));
  EXPECT_EQ(plan.tier, SpreadTier::kRack);
  EXPECT_THAT(Plan(Alike(1, 4), seconds(0), {}, {"c"}), ElementsAre("b"));
  EXPECT_EQ(plan.tier, SpreadTier::kAnywhere);
}

// `a` has one free GPU, however many members run there.
TEST_F(GangLocalityTest, CountsTheCapacityOfANodeOnceForItsMembers) {
  HaveNodeIn("r1", "a", 7);
  HaveNodeIn("r1", "b");
  EXPECT_THAT(Plan(Alike(2, 1), seconds(0), {}, {"a", "a", "a"}), ElementsAre("b", "b"));
}

}  // namespace
}  // namespace synergy::testing
