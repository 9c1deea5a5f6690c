#include "allocation/gang_plan.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/allocation/allocation_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

  // The nodes' names, by member.
  std::vector<std::string> Plan(
      const Members& members, const MayGo& may_go = [](size_t, NodeIndex) { return true; }) {
    snapshot = state.Snapshot();
    plan = PlanGang(*snapshot, members, {}, may_go);
    std::vector<std::string> names;
    for (const NodeIndex place : plan.places) names.push_back(snapshot->node(place).detail->name);
    return names;
  }

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

TEST_F(GangPlanTest, ItsOwnHeldPlacesAreNotInItsWay) {
  HaveNode("a");
  const Members members = Alike(2, 4);
  for (const auto& member : members) state.UpsertPod(*member);
  ASSERT_TRUE(state.Hold({{"m0", "a"}, {"m1", "a"}}, Instant(std::chrono::hours(1))));
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

}  // namespace
}  // namespace synergy::testing
