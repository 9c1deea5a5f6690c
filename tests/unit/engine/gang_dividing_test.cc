// Tests the tuner with gangs: members on several nodes get equal amounts.

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "engine/tuner/gang_shares.h"
#include "engine/tuner/room.h"
#include "unit/engine/tuner_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

class GangDividingTest : public TunerPlanTest {
 protected:
  GangDividingTest() { HaveNode("n2"); }

  static Pod Member(const std::string& name, const std::string& node, int64_t cores,
                    const std::string& profile = "sensitive", const std::string& gang = "g") {
    Pod pod = ManagedPod(name, node, cores, profile);
    pod.gang = std::make_shared<const Gang>(Gang{"default/" + gang, 2, {}});
    return pod;
  }
  // Returns the decisions, such as "announce a", and the cores that each pod will have.
  std::vector<std::pair<std::string, MilliCpu>> Amounts() {
    const std::vector<std::string> planned = Plan();
    std::vector<std::pair<std::string, MilliCpu>> amounts;
    for (size_t i = 0; i < planned.size(); ++i) {
      amounts.emplace_back(planned[i], ChangeOf(plan.actions[i]).to.cpu);
    }
    return amounts;
  }
  std::vector<std::pair<std::string, MilliCpu>> AmountsInARound() {
    After(std::chrono::minutes(5));
    return Amounts();
  }
};

TEST_F(GangDividingTest, MembersGrowAlikeUpToWhatTheTightestNodeHas) {
  Reports(Member("a", "n1", 3));
  Reports(Member("b", "n2", 3));
  Reports(MakePod("web", {Gpus(0), Cores(4), GiB(1)}));
  Pod web = MakePod("web", {Gpus(0), Cores(4), GiB(1)});
  web.node = "n2";
  Reports(web);
  EXPECT_THAT(AmountsInARound(),
              UnorderedElementsAre(Pair("announce a", Cores(8)), Pair("announce b", Cores(8))));
  EXPECT_THAT(ChangeOf(plan.actions.front()).why, ::testing::HasSubstr("gang default/g is 167 %"));
}

TEST_F(GangDividingTest, UselessExcessOfAMemberGoesToItsNeighbour) {
  Pod full = ManagedPod("full", "n1", 9);
  full = With(full, [](ManagedContainer& pod) { pod.floor = OneGpu(9); });
  Reports(full);
  Reports(Member("a", "n1", 3));
  Reports(Member("b", "n2", 9));
  Reports(ManagedPod("other", "n2", 3));
  EXPECT_THAT(AmountsInARound(), ElementsAre(Pair("resize b", Cores(3))));
}

TEST_F(GangDividingTest, UnequalMembersAreEqualisedWithoutAGain) {
  Pod full = ManagedPod("full", "n1", 9);
  Reports(With(full, [](ManagedContainer& pod) { pod.floor = OneGpu(9); }));
  Reports(Member("a", "n1", 3));
  Reports(Member("b", "n2", 5));
  EXPECT_THAT(AmountsInARound(), ElementsAre(Pair("resize b", Cores(3))));
  EXPECT_EQ(ChangeOf(plan.actions.front()).kind, ChangeKind::kDivided);
}

TEST_F(GangDividingTest, AGangOfWhichAMemberWaitsKeepsWhatItHas) {
  Reports(Member("a", "n1", 3));
  Reports(Member("b", "n2", 3));
  Pod late = Member("c", "", 3);
  auto waiting = std::make_shared<Waiting>(*late.waiting);
  waiting->unschedulable = false;
  late.waiting = std::move(waiting);
  Reports(late);
  EXPECT_THAT(AmountsInARound(), IsEmpty());
  state.RemovePod("c");
  EXPECT_THAT(AmountsInARound(),
              UnorderedElementsAre(Pair("announce a", Cores(9)), Pair("announce b", Cores(9))));
}

TEST_F(GangDividingTest, AGangKeepsWhatItHasInTheRoundInWhichAMemberWasChanged) {
  Reports(With(Member("a", "n1", 3), [this](ManagedContainer& pod) {
    pod.change = {ChangeKind::kReclaimed, OneGpu(6), OneGpu(3), "",
                  at.wall + std::chrono::minutes(4)};
  }));
  Reports(Member("b", "n2", 6));
  EXPECT_THAT(AmountsInARound(), IsEmpty());
  EXPECT_THAT(AmountsInARound(),
              UnorderedElementsAre(Pair("announce a", Cores(9)), Pair("announce b", Cores(9))));
}

TEST_F(GangDividingTest, AMembersNodeWaitsForTheDivisionOfAnothers) {
  Reports(ManagedPod("idle", "n1", 9, "insensitive"));
  Reports(Member("a", "n1", 3));
  Reports(Member("b", "n2", 3));
  Reports(ManagedPod("other", "n2", 3));
  ASSERT_THAT(AmountsInARound(), ElementsAre(Pair("resize idle", ::testing::Lt(Cores(9)))));
  for (const TunerAction& action : plan.actions) tuner.OnResult(memory, action, true, at);
  // "other" must not grow into what the gang is going to need.
  memory.touched.insert("n2");
  EXPECT_THAT(Amounts(), Each(Pair("record idle", ::testing::_)));
  EXPECT_THAT(memory.touched, ::testing::Contains("n2"));
}

TEST_F(GangDividingTest, AQuotaIsSharedByTheMembers) {
  ResourceQuota quota{.uid = "q", .pod_namespace = ManagedPod("a", "n1", 3).pod_namespace};
  quota.requests.hard.cpu = Cores(16);
  quota.requests.used.cpu = Cores(6);
  state.UpsertResourceQuota(quota);
  Reports(Member("a", "n1", 3));
  Reports(Member("b", "n2", 3));
  // A quarter of 16 stays free, and each member gets half of the remaining 6 cores.
  EXPECT_THAT(AmountsInARound(),
              UnorderedElementsAre(Pair("announce a", Cores(6)), Pair("announce b", Cores(6))));
}

TEST_F(GangDividingTest, RoomCostsWhatTheWholeGangLoses) {
  Reports(ManagedPod("alone", "n1", 9));
  Reports(ManagedPod("fills-1", "n1", 3));
  Reports(Member("a", "n2", 9));
  Reports(ManagedPod("fills-2", "n2", 3));
  HaveNode("n3");
  Reports(Member("b", "n3", 9));
  Reports(ManagedPod("fills-3", "n3", 3));
  const auto snapshot = state.Snapshot();
  const NamespaceLimits none;
  const ShareRules rules{profiles, memory, at, std::chrono::minutes(5), 4, &none, snapshot.get()};
  const auto anywhere = [](const NodeState&) { return true; };
  const auto on_gangs_node = [](const NodeState& node) { return node.detail->name != "n1"; };
  const auto cheap = CheapestRoom(*snapshot, ManagedPod("new", "", 3), rules, anywhere);
  const auto dear = CheapestRoom(*snapshot, ManagedPod("new", "", 3), rules, on_gangs_node);
  ASSERT_TRUE(cheap && dear);
  EXPECT_EQ(snapshot->node(cheap->node).detail->name, "n1");
  EXPECT_NEAR(cheap->cost, 1, 0.01);
  EXPECT_NEAR(dear->cost, 2, 0.01);
}

TEST_F(GangDividingTest, ExcessOfAMemberCostsNothing) {
  Reports(ManagedPod("alone", "n1", 9));
  Reports(ManagedPod("fills-1", "n1", 3));
  Reports(Member("a", "n2", 9));
  Reports(ManagedPod("fills-2", "n2", 3));
  HaveNode("n3");
  Reports(Member("b", "n3", 6));
  const auto snapshot = state.Snapshot();
  const NamespaceLimits none;
  const ShareRules rules{profiles, memory, at, std::chrono::minutes(5), 4, &none, snapshot.get()};
  const auto room = CheapestRoom(*snapshot, ManagedPod("new", "", 3), rules,
                                 [](const NodeState& node) { return node.detail->name != "n3"; });
  ASSERT_TRUE(room);
  EXPECT_EQ(snapshot->node(room->node).detail->name, "n2");
  EXPECT_NEAR(room->cost, 0, 1e-5);
}

}  // namespace
}  // namespace synergy::testing
