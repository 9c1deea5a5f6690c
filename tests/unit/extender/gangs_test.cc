// Tests gangs through the extender's verbs, called as kube-scheduler calls them.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "unit/extender/gangs_fixture.h"

namespace synergy::extender {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

TEST_F(GangsTest, HoldsAllPlacesWhenTheFirstMemberComes) {
  AddNode("a");
  const auto members = Create("g");
  EXPECT_THAT(Filter(members[0]), HasSubstr(Passes("a")));
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
  EXPECT_THAT(extender.Filter(Args(MakePod("single", 1, 1, 1), {"a"})),
              HasSubstr("Insufficient nvidia.com/gpu"));
  EXPECT_THAT(Filter(members[1]), HasSubstr(Passes("a")));
  EXPECT_THAT(BindAll(members, {"a", "a"}), Each(kBound));
}

TEST_F(GangsTest, ABindWaitsForTheOthersAndAnswersBeforeKubeSchedulerGivesUp) {
  AddNode("a");
  const auto members = Create("g");
  Filter(members[0]);
  EXPECT_EQ(BindInVain(members[0], "a"),
            R"({"Error":"gang default/g: 1 of 2 members wait to be bound"})");
  EXPECT_EQ(FreeGpus("a"), Gpus(0)) << "the places stay held";
  EXPECT_THAT(Filter(members[0]), HasSubstr(Passes("a")));
  EXPECT_THAT(Filter(members[1]), HasSubstr(Passes("a")));
  EXPECT_THAT(BindAll(members, {"a", "a"}), Each(kBound));
}

// If a member's bind fails, kube-scheduler does not count the member any more and lets others take
// its place. So of two members that exclude each other both may pass, one after the other.
TEST_F(GangsTest, AMemberThatHasPassedBeforeDoesNotLetAnotherGoAlone) {
  AddNode("a");
  const auto members = Create("g");
  Filter(members[0]);
  BindInVain(members[0], "a");
  EXPECT_THAT(Filter(members[1]), HasSubstr(Passes("a")));
  EXPECT_EQ(BindInVain(members[1], "a"),
            R"({"Error":"gang default/g: 1 of 2 members wait to be bound"})");
  EXPECT_TRUE(api.pod("g-1").node.empty());
}

TEST_F(GangsTest, LaterOfTwoBindsOfAMemberCounts) {
  AddNode("a");
  const auto members = Create("g");
  Filter(members[0]);
  Filter(members[1]);
  SharedGangs& gangs = extender.gangs();
  const auto given_up = gangs.BeginBind(members[0].uid, "a");
  EXPECT_THAT(Filter(members[0]), HasSubstr(Passes("a")));
  ASSERT_TRUE(gangs.OutcomeOf(*given_up));
  EXPECT_FALSE(*gangs.OutcomeOf(*given_up));
  const auto first = gangs.BeginBind(members[1].uid, "a");
  EXPECT_FALSE(gangs.OutcomeOf(*first)) << "kube-scheduler binds nobody else now";
  const auto second = gangs.BeginBind(members[0].uid, "a");
  EXPECT_TRUE(*gangs.OutcomeOf(*first));
  EXPECT_TRUE(*gangs.OutcomeOf(*second));
}

TEST_F(GangsTest, GangsOf256BindsWaitBesideEachOther) {
  state.UpsertNode(
      synergy::testing::MakeNode("a", {Gpus(1000), Cores(1000), GiB(1000)}, /*pods=*/1000));
  const auto waits = [&](const Pod& pod) {
    Filter(pod);
    return !extender.gangs().OutcomeOf(*extender.gangs().BeginBind(pod.uid, "a"));
  };
  const auto first = Create("first", 200, 1);
  const auto second = Create("second", 64, 1);
  EXPECT_TRUE(waits(first[0]));
  EXPECT_FALSE(waits(second[0])) << "all of both could not wait";
  for (size_t i = 1; i < 199; ++i) EXPECT_TRUE(waits(first[i]));
  EXPECT_FALSE(waits(first[199])) << "it is the last";
  EXPECT_TRUE(waits(second[0]));
  EXPECT_EQ(extender.gangs().Count().waiting_binds, 1U);
}

TEST_F(GangsTest, NothingIsHeldForAPartOfAGang) {
  AddNode("a");
  const auto first = Create("first");
  const auto second = Create("second");
  Filter(first[0]);
  EXPECT_THAT(Filter(second[0]),
              HasSubstr("gang default/second: 0 of 2 members fit beside each other, the next: "
                        "Insufficient nvidia.com/gpu"));
  EXPECT_THAT(Filter(second[0]), HasSubstr(R"("FailedAndUnresolvableNodes":{"a")"))
      << "nobody is evicted for it";
  EXPECT_THAT(Filter(first[1]), HasSubstr(Passes("a")));
}

TEST_F(GangsTest, AGangThatIsNotWholeIsAskedAboutAgainSoonAndRefusedWhenItIsLate) {
  AddNode("a");
  const Pod member = Member("g", 0);
  state.UpsertPod(member);
  EXPECT_EQ(Filter(member), R"({"Error":"gang default/g: 1 of 2 members exist"})");
  clock.Advance(std::chrono::seconds(10));
  EXPECT_THAT(Filter(member), HasSubstr(R"("FailedAndUnresolvableNodes":{"a":"gang default/g: )"
                                        R"(1 of 2 members exist")"));
  EXPECT_EQ(FreeGpus("a"), Gpus(8));
}

TEST_F(GangsTest, SucceededMembersAreNotAwaited) {
  AddNode("a");
  const Pod last = Member("g", 3, 4, 1);
  Put(last);
  size_t succeeded = 2;
  int asked = 0;
  extender.SetCountSucceeded([&](const Pod& pod) {
    EXPECT_EQ(pod.name, "g-3");
    ++asked;
    return succeeded;
  });
  Filter(last);
  EXPECT_EQ(asked, 0) << "the others may be on their way";
  clock.Advance(std::chrono::seconds(10));
  EXPECT_THAT(Filter(last), HasSubstr("1 of 4 members exist"));
  EXPECT_EQ(asked, 1);
  Filter(last);
  EXPECT_EQ(asked, 1) << "a moment ago";
  succeeded = 3;
  clock.Advance(std::chrono::seconds(30));
  EXPECT_THAT(Filter(last), HasSubstr(Passes("a")));
  clock.Advance(std::chrono::seconds(30));
  extender.gangs().Look();
  EXPECT_EQ(extender.gangs().Count().held, 1U);
  EXPECT_EQ(extender.Bind(BindArgs(last, "a")), kBound);
}

TEST_F(GangsTest, GangLargerThanTheClusterFailsAtOnce) {
  AddNode("a");
  const Pod member = Member("g", 0, 16, 1);
  state.UpsertPod(member);
  EXPECT_THAT(Filter(member),
              HasSubstr("gang default/g: it needs 16 nvidia.com/gpu, the cluster has 8"));
}

TEST_F(GangsTest, OnlyUnplacedMembersOfARunningGangMustFit) {
  AddNode("a");
  AddNode("b");
  auto members = Create("g", 4);
  for (size_t i = 0; i < 3; ++i) {
    members[i].node = i < 2 ? "b" : "a";
    state.UpsertPod(members[i]);
  }
  Node cordoned;
  cordoned.name = "b";
  cordoned.allocatable.main = {Gpus(8), Cores(24), GB(500)};
  cordoned.pods_allowed = 110;
  cordoned.unschedulable = true;
  state.UpsertNode(cordoned);
  EXPECT_THAT(Filter(members[3]), HasSubstr(Passes("a")));
  AddNode("a", 7);
  extender.gangs().Look();
  EXPECT_THAT(Filter(members[3]), HasSubstr("it needs 4 nvidia.com/gpu more, the cluster has 3"));
}

TEST_F(GangsTest, WordsWithoutSenseAreAnAnswer) {
  AddNode("a");
  Pod member = Member("g", 0, 0);
  state.UpsertPod(member);
  EXPECT_THAT(Filter(member), HasSubstr("must be a number from 1 to 256"));
  Create("h", 2);
  EXPECT_THAT(Filter(Member("h", 0, 3)), HasSubstr("its members have different sizes: 2 and 3"));
  state.UpsertPod(Member("h", 3, 2));
  EXPECT_THAT(Filter(Member("h", 0, 2)), HasSubstr("3 pods belong to it, but its size is 2"));
}

TEST_F(GangsTest, PlacesAreReleasedWithAMember) {
  AddNode("a");
  const auto members = Create("g");
  Filter(members[0]);
  state.RemovePod(members[1].uid);
  extender.gangs().Look();
  EXPECT_EQ(FreeGpus("a"), Gpus(8));
  EXPECT_THAT(extender.Bind(BindArgs(members[0], "a")), HasSubstr("its places were released"));
}

TEST_F(GangsTest, PlacesExpireAndTheGangRests) {
  AddNode("a");
  const auto members = Create("g");
  Filter(members[0]);
  clock.Advance(kHold - std::chrono::seconds(1));
  extender.gangs().Look();
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
  EXPECT_EQ(extender.gangs().Count().held, 1U);
  clock.Advance(std::chrono::seconds(1));
  extender.gangs().Look();
  EXPECT_EQ(FreeGpus("a"), Gpus(8));
  EXPECT_EQ(extender.gangs().Count().held, 0U);
  EXPECT_EQ(extender.gangs().Count().waiting, 1U);
  EXPECT_THAT(Filter(members[0]), HasSubstr("its places were held for 60 s, but 2 of 2 members "
                                            "were not bound, for another reason than resources: "
                                            "g-1; tried again after 30 s"));
  clock.Advance(std::chrono::seconds(30));
  EXPECT_THAT(Filter(members[0]), HasSubstr(Passes("a")));
}

TEST_F(GangsTest, AMemberThatMayNotGoToItsPlaceMakesAnotherPlan) {
  AddNode("a");
  AddNode("b");
  const auto members = Create("g");
  EXPECT_THAT(Filter(members[0], {"a", "b"}), HasSubstr(Passes("a")));
  EXPECT_THAT(Filter(members[1], {"b"}), HasSubstr(Passes("b")));
  EXPECT_EQ(FreeGpus("a"), Gpus(8)) << "both fit on b";
  EXPECT_THAT(Filter(members[0], {"a", "b"}), HasSubstr(Passes("b")));
  EXPECT_THAT(BindAll(members, {"b", "b"}), Each(kBound));
}

// kube-scheduler places pods without GPUs by itself, and does not count reservations.
TEST_F(GangsTest, AMemberWhosePlaceAPodWithoutGpusHasTakenIsPlacedElsewhere) {
  AddNode("a", 4);
  AddNode("b", 4);
  const auto members = Create("g");
  EXPECT_THAT(Filter(members[0], {"a", "b", "c"}), HasSubstr(Passes("a")));
  AddNode("c", 4);
  Put(MakePod("cpu", 0, 22, 1, "a"));
  EXPECT_THAT(Filter(members[0], {"a", "b", "c"}), HasSubstr(Passes("b")));
  EXPECT_THAT(Filter(members[1], {"a", "b", "c"}), HasSubstr(Passes("c")));
  EXPECT_THAT(BindAll(members, {"b", "c"}), Each(kBound));
}

TEST_F(GangsTest, NoMemberIsBoundWhileAPodWithoutGpusHasThePlaceOfAnother) {
  AddNode("a", 4);
  AddNode("b", 4);
  const auto members = Create("g");
  Filter(members[0], {"a", "b"});
  Filter(members[1], {"a", "b"});
  std::string first;
  std::jthread binding([&] { first = extender.Bind(BindArgs(members[0], "a")); });
  clock.AwaitSleepers(1);
  Put(MakePod("cpu", 0, 22, 1, "a"));
  std::string second;
  std::jthread waiting([&] { second = extender.Bind(BindArgs(members[1], "b")); });
  clock.AwaitSleepers(2);
  clock.Advance(std::chrono::milliseconds(20));
  binding.join();
  EXPECT_THAT(first, HasSubstr("another pod has taken its room"));
  clock.AwaitSleepers(1);
  clock.Advance(kWait);
  waiting.join();
  EXPECT_THAT(second, HasSubstr("1 of 2 members wait to be bound"));
  for (const char* name : {"g-0", "g-1"}) EXPECT_TRUE(api.pod(name).node.empty()) << name;
}

TEST_F(GangsTest, NoBindKeepsAnExtenderThatIsStoppedWaiting) {
  AddNode("a");
  const auto members = Create("g");
  Filter(members[0]);
  const auto waiting = extender.gangs().BeginBind(members[0].uid, "a");
  extender.gangs().Stop();
  EXPECT_FALSE(*extender.gangs().OutcomeOf(*waiting));
  EXPECT_FALSE(*extender.gangs().OutcomeOf(*extender.gangs().BeginBind(members[0].uid, "a")));
}

TEST_F(GangsTest, AnotherPlanDoesNotLengthenTheHold) {
  AddNode("a");
  AddNode("b");
  const auto members = Create("g");
  Filter(members[0], {"a", "b"});
  for (int i = 0; i < 6; ++i) {
    clock.Advance(kHold / 6);
    extender.gangs().Look();
    Filter(members[1], {i % 2 == 0 ? "b" : "a"});
    Filter(members[0], {i % 2 == 0 ? "a" : "b"});
  }
  extender.gangs().Look();
  EXPECT_EQ(FreeGpus("a"), Gpus(8));
  EXPECT_EQ(FreeGpus("b"), Gpus(8));
  EXPECT_THAT(Filter(members[0], {"a", "b"}), HasSubstr("tried again after"));
}

// If a plan moved members that kube-scheduler counts, their binds would fail again and again.
TEST_F(GangsTest, MembersThatHavePassedStayWhereTheyAreIfTheOthersCanBeElsewhere) {
  AddNode("a");
  AddNode("b", 2);
  AddNode("c", 2);
  const auto members = Create("g", 4, 2);
  EXPECT_THAT(Filter(members[0], {"a", "b", "c"}), HasSubstr(Passes("a")));
  EXPECT_THAT(Filter(members[1], {"a", "b", "c"}), HasSubstr(Passes("a")));
  EXPECT_THAT(Filter(members[2], {"b", "c"}), HasSubstr(Passes("b")));
  EXPECT_THAT(Filter(members[3], {"c"}), HasSubstr(Passes("c")));
  EXPECT_THAT(BindAll(members, {"a", "a", "b", "c"}), Each(kBound));
}

// The extender does not know why the members are kept apart.
TEST_F(GangsTest, LearnsHowManyOfAShapeKubeSchedulerLetsGoToANode) {
  std::vector<std::string> nodes = {"a", "b", "c", "d", "e", "f"};
  for (const std::string& node : nodes) AddNode(node);
  const auto members = Create("g", 4, 1);
  SharedGangs& gangs = extender.gangs();
  struct Counted {
    std::string node;
    std::shared_ptr<GangBind> bind;
  };
  std::map<std::string, Counted> counted;  // counted by kube-scheduler
  int asks = 0;
  for (; asks < 20 && counted.size() < members.size(); ++asks) {
    const Pod& member = *std::find_if(members.begin(), members.end(),
                                      [&](const Pod& pod) { return !counted.contains(pod.name); });
    std::vector<std::string> asked = nodes;
    for (const auto& [name, there] : counted) std::erase(asked, there.node);
    const std::string answer = Filter(member, asked);
    const auto node = std::find_if(asked.begin(), asked.end(), [&](const std::string& each) {
      return answer.find(Passes(each)) != std::string::npos;
    });
    ASSERT_NE(node, asked.end()) << answer;
    counted[member.name] = {*node, gangs.BeginBind(member.uid, *node)};
    std::erase_if(counted, [&](const auto& entry) {
      const auto outcome = gangs.OutcomeOf(*entry.second.bind);
      return outcome && !*outcome;
    });
  }
  EXPECT_LE(asks, 6);
  for (const auto& [name, there] : counted) EXPECT_TRUE(*gangs.OutcomeOf(*there.bind)) << name;
}

TEST_F(GangsTest, MembersWithAHostPortInCommonGoToANodeEach) {
  AddNode("a");
  AddNode("b");
  auto members = Create("g");
  for (Pod& member : members) {
    member.separation =
        std::make_shared<const Separation>(Separation{{{"0.0.0.0", "TCP", 29500}}, {}, {}});
    Put(member);
  }
  EXPECT_THAT(Filter(members[0], {"a", "b"}), HasSubstr(Passes("a")));
  EXPECT_THAT(Filter(members[1], {"b"}), HasSubstr(Passes("b")));
  EXPECT_THAT(BindAll(members, {"a", "b"}), Each(kBound));
}

TEST_F(GangsTest, NothingIsHeldForMembersThatCannotBeBesideEachOther) {
  AddNode("a");
  auto members = Create("g");
  for (Pod& member : members) {
    member.separation =
        std::make_shared<const Separation>(Separation{{{"0.0.0.0", "TCP", 29500}}, {}, {}});
    Put(member);
  }
  EXPECT_THAT(Filter(members[0]), HasSubstr("1 of 2 members fit beside each other"));
  EXPECT_EQ(FreeGpus("a"), Gpus(8));
}

TEST_F(GangsTest, ReplacementIsPlacedBesideRunningMembers) {
  AddNode("a");
  auto members = Create("g");
  members[0].node = "a";
  state.UpsertPod(members[0]);
  EXPECT_THAT(Filter(members[1]), HasSubstr(Passes("a")));
  EXPECT_EQ(extender.Bind(BindArgs(members[1], "a")), kBound);
}

TEST_F(GangsTest, AllMembersAreGivenWhatTheTightestNodeHas) {
  AddNode("a", 4, 12);
  AddNode("b", 4, 24);
  auto members = Create("g");
  for (Pod& member : members) {
    auto fungible = std::make_shared<ManagedContainer>();
    fungible->container = "train";
    fungible->requested = fungible->floor = fungible->fair_share = member.requests.main;
    fungible->demand = {Gpus(4), Cores(20), member.requests.main.memory};
    member.fungible = std::move(fungible);
    member.waiting = std::make_shared<const Waiting>();
    Put(member);
  }
  Filter(members[0], {"b"});
  Filter(members[1], {"a", "b"});
  ASSERT_THAT(BindAll(members, {"b", "a"}), Each(kBound));
  for (const Pod& member : members) {
    EXPECT_EQ(api.pod(member.name).fungible->requested.cpu, Cores(12)) << member.name;
  }
}

TEST_F(GangsTest, AMemberWithoutGpusIsThereAndNeedsNoPlace) {
  AddNode("a");
  const Pod worker = Member("g", 0);
  Put(worker);
  Put(Member("g", 1, 2, 0));
  EXPECT_THAT(Filter(worker), HasSubstr(Passes("a")));
  EXPECT_EQ(FreeGpus("a"), Gpus(4));
  EXPECT_EQ(extender.Bind(BindArgs(worker, "a")), kBound);
}

// kube-scheduler asks the extender to bind it if it names the GPU resource, with an amount of zero.
TEST_F(GangsTest, AMemberWithoutGpusIsBoundAtOnce) {
  AddNode("a");
  Put(Member("g", 0));
  const Pod launcher = Member("g", 1, 2, 0);
  Put(launcher);
  EXPECT_THAT(Filter(launcher), HasSubstr(Passes("a")));
  EXPECT_EQ(extender.Bind(BindArgs(launcher, "a")), kBound);
}

TEST_F(GangsTest, HoldsThePlaceOfALauncherWithTheGangsPlaces) {
  AddNode("a", 4, 12);
  AddNode("b", 4, 24);
  auto members = Create("g", 3);
  members.pop_back();
  for (Pod& member : members) {
    auto fungible = std::make_shared<ManagedContainer>();
    fungible->container = "train";
    fungible->requested = fungible->floor = fungible->fair_share = member.requests.main;
    fungible->demand = {Gpus(4), Cores(20), member.requests.main.memory};
    member.fungible = std::move(fungible);
    member.waiting = std::make_shared<const Waiting>();
    Put(member);
  }
  Put(LauncherOnA(Cores(6)));
  Filter(members[0], {"b"});
  EXPECT_EQ(FreeCpu("a"), Cores(2));
  Filter(members[1], {"a", "b"});
  ASSERT_THAT(BindAll(members, {"b", "a"}), Each(kBound));
  for (const Pod& member : members) {
    EXPECT_EQ(api.pod(member.name).fungible->requested.cpu, Cores(6)) << member.name;
  }
}

TEST_F(GangsTest, RoomForALauncherIsGivenBackWithTheGangsPlaces) {
  AddNode("a");
  const auto members = Create("g", 3, 1);
  state.RemovePod(members[2].uid);
  Put(LauncherOnA(Cores(6)));
  EXPECT_THAT(Filter(members[0]), HasSubstr(Passes("a")));
  EXPECT_EQ(FreeCpu("a"), Cores(24 - 1 - 1 - 6));
  state.RemovePod(members[1].uid);
  extender.gangs().Look();
  EXPECT_EQ(FreeCpu("a"), Cores(24));
}

TEST_F(GangsTest, ALauncherWithoutRoomDoesNotKeepTheGangFromItsPlaces) {
  AddNode("a");
  const auto members = Create("g", 3, 1);
  state.RemovePod(members[2].uid);
  Put(LauncherOnA(Cores(23)));
  EXPECT_THAT(Filter(members[0]), HasSubstr(Passes("a")));
  EXPECT_EQ(FreeCpu("a"), Cores(24 - 1 - 1));
}

TEST_F(GangsTest, AMemberWithSlicesOfGpusIsPlacedAndMakesRoomAlone) {
  state.UpsertNode(synergy::testing::MakeSharedNode("a", 1, 2, {Gpus(0), Cores(8), GB(60)}));
  state.UpsertPod(
      synergy::testing::OnNode(synergy::testing::MakeSlicePod("low", 2, Cores(1), GB(1)), "a"));
  Pod member = Member("g", 0, 2, 1);
  const auto sharing = [](std::string args) {
    args.insert(args.find("nvidia.com/gpu") + std::string_view("nvidia.com/gpu").size(), ".shared");
    return args;
  };
  std::string args = sharing(FilterArgs(member, {"a"}));
  EXPECT_THAT(extender.Filter(args), HasSubstr(R"("a":"Insufficient nvidia.com/gpu.shared")"));
  args.insert(1, R"("NodeNameToMetaVictims":{"a":{"Pods":[{"UID":"low"}],"NumPDBViolations":0}},)");
  EXPECT_THAT(extender.Preempt(args), HasSubstr(R"("Pods":[{"UID":"low"}])"));
  state.RemovePod("low");
  EXPECT_THAT(extender.Filter(sharing(FilterArgs(member, {"a"}))), HasSubstr(Passes("a")));
}

class GangPriorityTest : public GangsTest {
 protected:
  GangPriorityTest() {
    AddNode("a");
    AddNode("b", 4);
    low = Create("low", 3);
    for (Pod& member : low) {
      member.priority = -1;
      Put(member);
    }
    clock.Advance(std::chrono::seconds(1));
    Filter(low[0], {"a", "b"});
  }

  std::vector<Pod> low;
};

TEST_F(GangPriorityTest, AllPlacesAreGivenToAPodOfHigherPriority) {
  ASSERT_EQ(FreeGpus("a"), Gpus(0));
  const auto bind =
      extender.gangs().BeginBind(low[0].uid, state.FindPlacement(low[0].uid)->pod->node);
  EXPECT_THAT(extender.Filter(Args(MakePod("single", 1, 1, 1), {"a"})), HasSubstr(Passes("a")));
  EXPECT_EQ(FreeGpus("b"), Gpus(4)) << "whole or not at all";
  EXPECT_FALSE(*extender.gangs().OutcomeOf(*bind));
  EXPECT_EQ(extender.gangs().Count().held, 0U);
}

TEST_F(GangPriorityTest, PlacesAreNotGivenWhereThatDoesNotHelp) {
  EXPECT_THAT(extender.Filter(Args(MakePod("large", 5, 1, 1), {"b"})),
              HasSubstr("Insufficient nvidia.com/gpu"));
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
}

TEST_F(GangPriorityTest, NorToAPodOfTheSamePriority) {
  for (Pod& member : low) {
    member.priority = 0;
    Put(member);
  }
  EXPECT_THAT(extender.Filter(Args(MakePod("single", 1, 1, 1), {"a"})),
              HasSubstr("Insufficient nvidia.com/gpu"));
}

TEST_F(GangPriorityTest, NorWhenTheMembersAreAboutToBeBound) {
  for (const Pod& member : low) {
    Filter(member, {"a", "b"});
    extender.gangs().BeginBind(member.uid, state.FindPlacement(member.uid)->pod->node);
  }
  EXPECT_THAT(extender.Filter(Args(MakePod("single", 1, 1, 1), {"a"})),
              HasSubstr("Insufficient nvidia.com/gpu"));
}

TEST_F(GangPriorityTest, AGangOfHigherPriorityGetsThemToo) {
  const auto high = Create("high");
  EXPECT_THAT(Filter(high[0], {"a", "b"}), HasSubstr(Passes("a")));
  EXPECT_EQ(extender.gangs().Count().held, 1U);
  EXPECT_EQ(FreeGpus("b"), Gpus(4));
}

TEST_F(GangsTest, RestartedExtenderHoldsNoPlaces) {
  AddNode("a");
  const auto members = Create("g");
  EXPECT_THAT(extender.Bind(BindArgs(members[0], "a")), HasSubstr("its places were released"));
}

// Half of each of the two nodes is occupied: the gang of two fits on both together, but not on one
// of them.
class GangLocalityTest : public GangsTest {
 protected:
  GangLocalityTest() {
    for (const char* node : {"a", "b"}) {
      AddNode(node);
      state.UpsertPod(MakePod(std::string("on ") + node, 4, 4, 4, node));
    }
  }
  std::string Ask(const Pod& pod) { return Filter(pod, {"a", "b"}); }
};

TEST_F(GangLocalityTest, AGangWaitsForOneNodeAndIsSpreadWhenTheWaitIsOver) {
  const auto members = Create("g");
  const std::string first = Ask(members[0]);
  EXPECT_THAT(first, HasSubstr("gang default/g: it waits for room within one node until "));
  EXPECT_THAT(first, HasSubstr(R"({"Error":)")) << "kube-scheduler asks again by itself";
  EXPECT_EQ(FreeGpus("a"), Gpus(4)) << "nothing is held";
  EXPECT_EQ(extender.gangs().Count().waiting_for_locality, 1U);
  clock.Advance(std::chrono::seconds(29));
  EXPECT_EQ(Ask(members[1]), first) << "the same event again";
  clock.Advance(std::chrono::seconds(1));
  EXPECT_THAT(Ask(members[0]), HasSubstr(R"("NodeNames":[")"));
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
  EXPECT_EQ(FreeGpus("b"), Gpus(0));
  EXPECT_EQ(extender.gangs().Count().waiting_for_locality, 0U);
  EXPECT_EQ(extender.gangs().Count().placed, (std::array<uint64_t, kSpreadTiers>{0, 0, 1}));
}

TEST_F(GangLocalityTest, OthersTakeWhatAGangWaitsBeside) {
  const auto members = Create("g");
  Ask(members[0]);
  EXPECT_THAT(extender.Filter(Args(MakePod("single", 4, 1, 1), {"a"})), HasSubstr(Passes("a")));
}

TEST_F(GangLocalityTest, TakesTheNodeThatBecomesFree) {
  const auto members = Create("g");
  Ask(members[0]);
  state.RemovePod("uid-on b");
  EXPECT_THAT(Ask(members[0]), HasSubstr(Passes("b")));
  EXPECT_EQ(extender.gangs().Count().placed, (std::array<uint64_t, kSpreadTiers>{1, 0, 0}));
}

TEST_F(GangLocalityTest, AnyMemberMayDeclareTheSpreadCost) {
  auto members = Create("g");
  auto gang = *members[1].gang;
  gang.spread.tensor_skew = 0.1;
  members[1].gang = std::make_shared<const Gang>(gang);
  Put(members[1]);
  EXPECT_THAT(Ask(members[0]), HasSubstr(R"("NodeNames":[")"));
}

TEST_F(GangLocalityTest, TheWaitGoesOnWhereAnotherExtenderLeftIt) {
  auto members = Create("g");
  Waiting waiting;
  waiting.since = clock.WallNow() - std::chrono::seconds(31);
  members[0].waiting = std::make_shared<const Waiting>(waiting);
  Put(members[0]);
  EXPECT_THAT(Ask(members[1]), HasSubstr(R"("NodeNames":[")"));
}

TEST_F(GangLocalityTest, WaitThatBeganBeforeTheRestartIsNoAsk) {
  clock.Advance(std::chrono::minutes(2));
  auto members = Create("g");
  Waiting gated;
  gated.since = clock.WallNow() - std::chrono::minutes(1);
  members[0].waiting = std::make_shared<const Waiting>(gated);
  Put(members[0]);
  EXPECT_THAT(Ask(members[1]), HasSubstr("it waits for room within one node"));
}

TEST_F(GangLocalityTest, AGangThatComesAgainWaitsAgain) {
  auto members = Create("g");
  Ask(members[0]);
  clock.Advance(std::chrono::seconds(30));
  Ask(members[0]);
  for (Pod& member : members) {
    member.node = "a";
    state.UpsertPod(member);
  }
  extender.gangs().Look();
  clock.Advance(std::chrono::hours(1));
  for (const Pod& member : members) state.RemovePod(member.uid);
  EXPECT_THAT(Ask(Create("g")[0]), HasSubstr("it waits for room within one node"));
}

}  // namespace
}  // namespace synergy::extender
