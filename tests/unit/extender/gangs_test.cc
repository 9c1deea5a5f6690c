// Gangs by the extender's verbs, as kube-scheduler calls them.

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "cluster/node_selection.h"
#include "unit/extender/extender_fixture.h"

namespace synergy::extender {
namespace {

using ::testing::HasSubstr;

class GangsTest : public ExtenderTest {
 protected:
  static constexpr auto kHold = std::chrono::seconds(60);

  static Pod Member(const std::string& gang, int number, int size = 2, int64_t gpus = 4) {
    Pod pod = MakePod(fmt::format("{}-{}", gang, number), gpus, gpus, gpus);
    pod.gang = std::make_shared<const Gang>(Gang{"default/" + gang, size, {}});
    return pod;
  }

  // As kube-scheduler sends it.
  static std::string FilterArgs(const Pod& pod, const std::vector<std::string>& nodes) {
    std::string args = Args(pod, nodes);
    const std::string gang = pod.gang->name.substr(pod.gang->name.find('/') + 1);
    const std::string labels =
        fmt::format(R"("labels":{{"synergy.io/gang":"{}","synergy.io/gang-size":"{}"}},)", gang,
                    pod.gang->size);
    args.insert(args.find(R"("name":)"), labels);
    return args;
  }
  std::string Filter(const Pod& pod, const std::vector<std::string>& nodes = {"a"}) {
    return extender.Filter(FilterArgs(pod, nodes));
  }
  static std::string Passes(const std::string& node) {
    return fmt::format(R"("NodeNames":["{}"])", node);
  }
  std::vector<Pod> Create(const std::string& gang, int size = 2, int64_t gpus = 4) {
    std::vector<Pod> members;
    for (int i = 0; i < size; ++i) {
      members.push_back(Member(gang, i, size, gpus));
      Put(members.back());
    }
    return members;
  }
  void Put(const Pod& pod) {
    state.UpsertPod(pod);
    api.Put(pod);
  }
  // A member without GPUs that may go to node a alone.
  static Pod LauncherOnA(MilliCpu cpu) {
    NodeSelection selection;
    selection.has_affinity = true;
    selection.terms = {{{.key = "metadata.name",
                         .op = NodeRequirement::Operator::kIn,
                         .values = {"a"},
                         .is_field = true}}};
    Waiting waiting;
    waiting.selection = std::make_shared<const NodeSelection>(std::move(selection));
    Pod launcher = Member("g", 2, 3, 0);
    launcher.requests.main.cpu = cpu;
    launcher.waiting = std::make_shared<const Waiting>(std::move(waiting));
    return launcher;
  }
  MilliCpu FreeCpu(const std::string& node) const {
    const auto snapshot = state.Snapshot();
    return snapshot->node(*snapshot->Find(node)).Free().cpu;
  }
  // The answer to a bind that waits for others in vain.
  std::string BindInVain(const Pod& pod, const std::string& node) {
    std::string answer;
    std::jthread binding([&] { answer = extender.Bind(BindArgs(pod, node)); });
    clock.AwaitSleepers(1);
    clock.Advance(std::chrono::seconds(3));
    binding.join();
    return answer;
  }
};

TEST_F(GangsTest, HoldsAllPlacesWhenTheFirstMemberComes) {
  AddNode("a");
  const auto members = Create("g");
  EXPECT_THAT(Filter(members[0]), HasSubstr(Passes("a")));
  EXPECT_EQ(FreeGpus("a"), Gpus(0));
  EXPECT_THAT(extender.Filter(Args(MakePod("single", 1, 1, 1), {"a"})),
              HasSubstr("Insufficient nvidia.com/gpu"));
  EXPECT_THAT(Filter(members[1]), HasSubstr(Passes("a")));
  EXPECT_EQ(extender.Bind(BindArgs(members[0], "a")), kBound);
  EXPECT_EQ(extender.Bind(BindArgs(members[1], "a")), kBound);
}

TEST_F(GangsTest, ABindWaitsForTheOthersAndAnswersBeforeKubeSchedulerGivesUp) {
  AddNode("a");
  const auto members = Create("g");
  Filter(members[0]);
  EXPECT_EQ(BindInVain(members[0], "a"),
            R"({"Error":"gang default/g: 1 of 2 members have passed the filter"})");
  EXPECT_EQ(FreeGpus("a"), Gpus(0)) << "the places stay held";
  Filter(members[1]);
  EXPECT_EQ(extender.Bind(BindArgs(members[1], "a")), kBound);
  EXPECT_THAT(Filter(members[0]), HasSubstr(Passes("a")));
  EXPECT_EQ(extender.Bind(BindArgs(members[0], "a")), kBound);
}

TEST_F(GangsTest, ABindThatWaitsGoesOnWhenTheLastMemberHasPassed) {
  AddNode("a");
  const auto members = Create("g");
  Filter(members[0]);
  std::string answer;
  std::jthread binding([&] { answer = extender.Bind(BindArgs(members[0], "a")); });
  clock.AwaitSleepers(1);
  Filter(members[1]);
  clock.Advance(std::chrono::milliseconds(20));
  binding.join();
  EXPECT_EQ(answer, kBound);
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
  EXPECT_EQ(Filter(member), R"({"Error":"gang default/g: 1 of 2 members are there"})");
  clock.Advance(std::chrono::seconds(10));
  EXPECT_THAT(Filter(member), HasSubstr(R"("FailedAndUnresolvableNodes":{"a":"gang default/g: )"
                                        R"(1 of 2 members are there")"));
  EXPECT_EQ(FreeGpus("a"), Gpus(8));
}

TEST_F(GangsTest, AGangLargerThanTheClusterIsToldSoAtOnce) {
  AddNode("a");
  const Pod member = Member("g", 0, 16, 1);
  state.UpsertPod(member);
  EXPECT_THAT(Filter(member),
              HasSubstr("gang default/g: it needs 16 nvidia.com/gpu, the cluster has 8"));
}

TEST_F(GangsTest, WordsWithoutSenseAreAnAnswer) {
  AddNode("a");
  Pod member = Member("g", 0, 0);
  state.UpsertPod(member);
  EXPECT_THAT(Filter(member), HasSubstr("not a number from 1 to 256"));
  Create("h", 2);
  EXPECT_THAT(Filter(Member("h", 0, 3)), HasSubstr("its members disagree about its size: 2 and 3"));
  state.UpsertPod(Member("h", 3, 2));
  EXPECT_THAT(Filter(Member("h", 0, 2)),
              HasSubstr("3 pods say that they are of it, and its size is 2"));
}

TEST_F(GangsTest, WhatIsHeldEndsWithAMember) {
  AddNode("a");
  const auto members = Create("g");
  Filter(members[0]);
  state.RemovePod(members[1].uid);
  extender.gangs().Look();
  EXPECT_EQ(FreeGpus("a"), Gpus(8));
  EXPECT_THAT(extender.Bind(BindArgs(members[0], "a")), HasSubstr("its places were given up"));
}

TEST_F(GangsTest, WhatIsHeldEndsAfterAWhileAndTheGangRestsThen) {
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
  EXPECT_THAT(Filter(members[0]), HasSubstr("its places were held for 60 s, and 2 of 2 members "
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
  EXPECT_EQ(extender.Bind(BindArgs(members[0], "b")), kBound);
}

TEST_F(GangsTest, AReplacementIsPlacedBesideThoseWhoRun) {
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
    auto fungible = std::make_shared<Fungible>();
    fungible->container = "train";
    fungible->requested = fungible->floor = fungible->fair_share = member.requests.main;
    fungible->demand = {Gpus(4), Cores(20), member.requests.main.memory};
    member.fungible = std::move(fungible);
    member.waiting = std::make_shared<const Waiting>();
    Put(member);
  }
  Filter(members[0], {"b"});
  Filter(members[1], {"a", "b"});
  ASSERT_EQ(extender.Bind(BindArgs(members[0], "b")), kBound);
  // What has become free since does not make the second another one than the first.
  AddNode("a", 4, 24);
  ASSERT_EQ(extender.Bind(BindArgs(members[1], "a")), kBound);
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

TEST_F(GangsTest, RoomForALauncherWhoseNodeIsKnownIsHeldWithTheGangsPlaces) {
  AddNode("a", 4, 12);
  AddNode("b", 4, 24);
  auto members = Create("g", 3);
  members.pop_back();
  for (Pod& member : members) {
    auto fungible = std::make_shared<Fungible>();
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
  ASSERT_EQ(extender.Bind(BindArgs(members[0], "b")), kBound);
  ASSERT_EQ(extender.Bind(BindArgs(members[1], "a")), kBound);
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

TEST_F(GangsTest, AnExtenderThatStartedAgainKnowsOfNoPlaces) {
  AddNode("a");
  const auto members = Create("g");
  EXPECT_THAT(extender.Bind(BindArgs(members[0], "a")), HasSubstr("its places were given up"));
}

// Both nodes are half full: the gang of two fits, and not on one of them.
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

TEST_F(GangLocalityTest, WhatSpreadingCostsIsSaidByAnyMember) {
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

TEST_F(GangLocalityTest, WhatWasWrittenSinceThisExtenderBeganIsNoAsk) {
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
