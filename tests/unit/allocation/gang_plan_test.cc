#include "allocation/gangs/gang_plan.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/allocation/allocation_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class GangPlanTest : public AllocationFixture {
 protected:
  using Members = std::vector<std::shared_ptr<const Pod>>;

  static Members Alike(size_t count, int64_t gpus) {
    Members members;
    for (size_t i = 0; i < count; ++i) {
      members.push_back(std::make_shared<const Pod>(MakeGpuPod("m" + std::to_string(i), gpus)));
    }
    return members;
  }

  // Returns the name of each member's node.
  std::vector<std::string> Plan(
      const Members& members, const MayGo& may_go = [](size_t, NodeIndex) { return true; }) {
    snapshot = state.Snapshot();
    plan = PlanGang(*snapshot, members, {}, may_go);
    std::vector<std::string> names;
    for (const NodeIndex place : plan.places) names.push_back(snapshot->node(place).detail->name);
    return names;
  }

  void HaveNodeIn(const std::string& zone, const std::string& name, int64_t gpus) {
    Node node = MakeNode(name, {Gpus(gpus), Cores(24), GiB(500)});
    node.labels = {{"kubernetes.io/hostname", name}, {"zone", zone}};
    state.UpsertNode(std::move(node));
  }
  static Members With(Members members, const Separation& separation) {
    for (auto& member : members) {
      Pod pod = Labelled(*member, "job", "g");
      pod.separation = std::make_shared<const Separation>(separation);
      member = std::make_shared<const Pod>(std::move(pod));
    }
    return members;
  }
  static LabelSelector OfTheJob() { return {{{"job", LabelSelector::Operator::kIn, {"g"}}}}; }

  GangPlan plan;
};

TEST_F(GangPlanTest, TakesTheTightestNodeThatHoldsAllOfIt) {
  HaveNode("empty");
  HaveNode("half");
  Taken("half", {Gpus(4), Cores(12), GiB(250)});
  HaveNode("nearly full");
  Taken("nearly full", {Gpus(5), Cores(15), GiB(300)});
  Members members = Alike(4, 1);
  for (auto& member : members) {
    member = std::make_shared<const Pod>(MakePod(member->name, {Gpus(1), Cores(3), GiB(62)}));
  }
  EXPECT_THAT(Plan(members), ElementsAre("half", "half", "half", "half"));
}

TEST_F(GangPlanTest, TakesAsFewNodesAsItCan) {
  for (const char* name : {"a", "b", "c"}) HaveNode(name);
  Taken("a", {Gpus(6), Cores(6), GiB(6)});
  Taken("b", {Gpus(4), Cores(4), GiB(4)});
  EXPECT_THAT(Plan(Alike(3, 4)), ElementsAre("c", "c", "b"));
}

TEST_F(GangPlanTest, HasNoPlaceForAPartOfIt) {
  HaveNode("a");
  Taken("a", {Gpus(3), Cores(3), GiB(3)});
  EXPECT_THAT(Plan(Alike(8, 1)), IsEmpty());
  EXPECT_EQ(plan.fitting, 5U);
  ASSERT_TRUE(plan.lacking);
  EXPECT_TRUE(plan.lacking->Has(FitFailures::kGpus));
  EXPECT_FALSE(plan.lacking->Has(FitFailures::kCpu));
}

TEST_F(GangPlanTest, OwnHeldPlacesDoNotBlockTheGang) {
  HaveNode("a");
  const Members members = Alike(2, 4);
  for (const auto& member : members) state.UpsertPod(*member);
  ASSERT_TRUE(state.Reserve({{"m0", "a"}, {"m1", "a"}}, Instant(std::chrono::hours(1))));
  EXPECT_THAT(Plan(members), ElementsAre("a", "a"));
}

TEST_F(GangPlanTest, GoesNowhereWhereAMemberMayNotGo) {
  HaveNode("a");
  HaveNode("b");
  const auto not_the_first_on_a = [this](size_t member, NodeIndex node) {
    return member != 0 || snapshot->node(node).detail->name != "a";
  };
  EXPECT_THAT(Plan(Alike(2, 1), not_the_first_on_a), ElementsAre("b", "b"));
  EXPECT_THAT(Plan(Alike(2, 8), not_the_first_on_a), ElementsAre("b", "a"));
  EXPECT_THAT(Plan(Alike(2, 1), [](size_t, NodeIndex) { return false; }), IsEmpty());
  EXPECT_FALSE(plan.lacking);
}

TEST_F(GangPlanTest, LooksAtCpuMemoryPodsAndOtherResourcesToo) {
  HaveNode("a", {Gpus(8), Cores(3), GiB(500)});
  EXPECT_THAT(Plan(Alike(4, 1)), IsEmpty());
  EXPECT_TRUE(plan.lacking->Has(FitFailures::kCpu));
  state.UpsertNode(MakeNode("few pods", kServer, 3));
  EXPECT_THAT(Plan(Alike(7, 1)), IsEmpty());
  EXPECT_EQ(plan.fitting, 6U);
  Members linked = Alike(2, 1);
  for (auto& member : linked) {
    member = std::make_shared<const Pod>(WithOther(*member, "rdma/hca", 1));
  }
  Node one_link = MakeNode("one link", kServer);
  one_link.allocatable.other.Set("rdma/hca", 1);
  state.UpsertNode(one_link);
  EXPECT_THAT(Plan(linked), IsEmpty());
  EXPECT_EQ(plan.fitting, 1U);
}

TEST_F(GangPlanTest, PlacesTheMostConstrainedMembersFirst) {
  HaveNode("a");
  HaveNode("b");
  for (const char* node : {"a", "b"}) Taken(node, {Gpus(7), Cores(7), GiB(7)});
  const auto the_second_on_a_alone = [this](size_t member, NodeIndex node) {
    return member == 0 || snapshot->node(node).detail->name == "a";
  };
  EXPECT_THAT(Plan(Alike(2, 1), the_second_on_a_alone), ElementsAre("b", "a"));
}

// Otherwise the small ones would fill the only node that has room for the large one.
TEST_F(GangPlanTest, MovesMembersThatAreInTheWayOfOthers) {
  HaveNode("a", {Gpus(3), Cores(24), GiB(500)});
  HaveNode("b", {Gpus(4), Cores(24), GiB(500)});
  Members members = Alike(1, 4);
  for (const char* name : {"x", "y", "z"}) {
    members.push_back(std::make_shared<const Pod>(MakeGpuPod(name, 1)));
  }
  EXPECT_THAT(Plan(members), ElementsAre("b", "a", "a", "a"));
}

TEST_F(GangPlanTest, MovesOneAfterTheOther) {
  for (const char* name : {"a", "b", "c"}) HaveNode(name, {Gpus(1), Cores(24), GiB(500)});
  // The first member takes "a", although in the end two others can go nowhere else.
  const std::vector<std::string> open = {"ab", "ab", "ac"};
  const auto may_go = [&](size_t member, NodeIndex node) {
    return open[member].find(snapshot->node(node).detail->name) != std::string::npos;
  };
  EXPECT_THAT(Plan(Alike(3, 1), may_go), ElementsAre("a", "b", "c"));
  const std::vector<std::string> reversed = {"ac", "ab", "ab"};
  const auto may_go_reversed = [&](size_t member, NodeIndex node) {
    return reversed[member].find(snapshot->node(node).detail->name) != std::string::npos;
  };
  EXPECT_EQ(Plan(Alike(3, 1), may_go_reversed).front(), "c");
}

TEST_F(GangPlanTest, MembersWithAHostPortInCommonGoToANodeEach) {
  HaveNode("a");
  HaveNode("b");
  const Separation port{{{"0.0.0.0", "TCP", 29500}}, {}, {}};
  EXPECT_THAT(Plan(With(Alike(2, 1), port)), ElementsAre("a", "b"));
  EXPECT_THAT(Plan(With(Alike(3, 1), port)), IsEmpty());
  EXPECT_EQ(plan.fitting, 2U);
  EXPECT_FALSE(plan.lacking) << "both nodes have room";
  const Separation other{{{"10.0.0.1", "TCP", 29501}}, {}, {}};
  Members unlike = With(Alike(1, 1), port);
  unlike.push_back(With(Alike(2, 1), other).back());
  EXPECT_THAT(Plan(unlike), ElementsAre("a", "a"));
}

TEST_F(GangPlanTest, AntiAffinityHoldsOverAnyLabel) {
  HaveNodeIn("east", "a", 8);
  HaveNodeIn("east", "b", 8);
  HaveNodeIn("west", "c", 8);
  const Separation apart{{}, {{"zone", OfTheJob()}}, {}};
  EXPECT_THAT(Plan(With(Alike(2, 1), apart)), ElementsAre("a", "c"));
  EXPECT_THAT(Plan(With(Alike(3, 1), apart)), IsEmpty());
  Pod there = Labelled(OnNode(MakeGpuPod("there", 1), "b"), "job", "g");
  state.UpsertPod(there);
  EXPECT_THAT(Plan(With(Alike(2, 1), apart)), IsEmpty());
  EXPECT_THAT(Plan(With(Alike(1, 1), apart)), ElementsAre("c"));
}

TEST_F(GangPlanTest, SpreadsMembersByTheirTopologyConstraints) {
  HaveNodeIn("east", "a", 8);
  HaveNodeIn("west", "c", 8);
  Separation spread;
  spread.spread.push_back({.topology_key = "zone", .max_skew = 1, .selector = OfTheJob()});
  EXPECT_THAT(Plan(With(Alike(4, 1), spread)), UnorderedElementsAre("a", "a", "c", "c"));
  HaveNodeIn("north", "d", 1);
  EXPECT_EQ(Plan(With(Alike(5, 1), spread)).size(), 5U) << "2, 2 and 1";
  EXPECT_THAT(Plan(With(Alike(6, 1), spread)), IsEmpty()) << "the north would need 2";
  EXPECT_EQ(plan.fitting, 5U);
}

TEST_F(GangPlanTest, CountsPodsNominatedByPreemption) {
  HaveNode("a", {Gpus(1), Cores(24), GiB(500)});
  Pod nominated = WithPriority(MakeGpuPod("nominated", 1), 10);
  Waiting waiting;
  waiting.nominated_node = "a";
  nominated.waiting = std::make_shared<const Waiting>(waiting);
  state.UpsertPod(nominated);
  EXPECT_THAT(Plan(Alike(1, 1)), IsEmpty());
  Members higher = {std::make_shared<const Pod>(WithPriority(*Alike(1, 1).front(), 11))};
  EXPECT_THAT(Plan(higher), ElementsAre("a"));
}

TEST_F(GangPlanTest, PutsNoMoreOfAShapeOnANodeThanThereMayBe) {
  HaveNode("a");
  HaveNode("b");
  const Members members = Alike(3, 1);
  snapshot = state.Snapshot();
  GangTerms terms([](size_t, NodeIndex) { return true; });
  terms.bounds = {{members[0], PlaceOf(*snapshot, "a"), 1}};
  const GangPlan bounded = PlanGang(*snapshot, members, {}, terms);
  ASSERT_EQ(bounded.places.size(), 3U);
  EXPECT_LE(std::count(bounded.places.begin(), bounded.places.end(), PlaceOf(*snapshot, "a")), 1);
}

TEST_F(GangPlanTest, TakesNoMoreGpusOfANodeThanItMay) {
  HaveNode("a");
  HaveNode("b");
  const Members members = Alike(6, 1);
  snapshot = state.Snapshot();
  GangTerms terms([](size_t, NodeIndex) { return true; });
  const NodeIndex a = PlaceOf(*snapshot, "a");
  const NodeIndex b = PlaceOf(*snapshot, "b");
  terms.most_gpus = {{a, Gpus(2)}, {b, Gpus(4)}};
  const GangPlan bounded = PlanGang(*snapshot, members, {}, terms);
  ASSERT_EQ(bounded.places.size(), 6U);
  EXPECT_EQ(std::count(bounded.places.begin(), bounded.places.end(), a), 2);
  terms.most_gpus[b] = Gpus(-1);
  EXPECT_EQ(PlanGang(*snapshot, members, {}, terms).fitting, 2U);
}

}  // namespace
}  // namespace synergy::testing
