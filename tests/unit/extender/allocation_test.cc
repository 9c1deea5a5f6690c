#include <future>

#include <gmock/gmock.h>

#include "unit/extender/extender_fixture.h"

namespace synergy::extender {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Tests a pod with one GPU that requests 2 cores and 10 GB and demands 6 cores and 40 GB.
class AllocationTest : public ExtenderTest {
 protected:
  void SetUp() override {
    AddNode("a", 2, 12, 100);
    Pod pod = MakePod("p", 1, 2, 10);
    auto fungible = std::make_shared<ManagedContainer>();
    fungible->container = "train";
    fungible->requested = fungible->floor = fungible->fair_share = pod.requests.main;
    fungible->demand = {Gpus(1), Cores(6), GB(40)};
    pod.fungible = std::move(fungible);
    api.Put(std::move(pod));
    state.UpsertPod(api.pod("p"));
  }

  std::string Bind() { return extender.Bind(BindArgs(api.pod("p"), "a")); }
  ResourceVector FreeOn(const std::string& node) {
    const auto snapshot = state.Snapshot();
    return snapshot->node(*snapshot->Find(node)).Free();
  }
};

TEST_F(AllocationTest, GivesTheDemandBeforeThePodIsBound) {
  EXPECT_EQ(Bind(), kBound);
  EXPECT_THAT(api.calls(), ElementsAre("resize p cpu 6, memory 40G", "bind p a"));
  const std::optional<ChangeRecord> change = api.pod("p").fungible->change;
  ASSERT_TRUE(change);
  EXPECT_EQ(change->kind, ChangeKind::kAllocated);
  EXPECT_EQ(change->from, (ResourceVector{Gpus(1), Cores(2), GB(10)}));
  EXPECT_EQ(change->to, (ResourceVector{Gpus(1), Cores(6), GB(40)}));
  EXPECT_EQ(FreeOn("a"), (ResourceVector{Gpus(1), Cores(6), GB(60)}));
  ASSERT_THAT(events.lines(), SizeIs(1));
  EXPECT_EQ(events.all[0].reason, "SynergyAllocated");
  EXPECT_THAT(events.all[0].message, HasSubstr("from cpu 2, memory 10G to cpu 6, memory 40G"));
  EXPECT_THAT(
      events.all[0].message,
      HasSubstr("its demand, on node a; 1 free GPUs are left there, with cpu 6, memory 55Gi each"));
}

TEST_F(AllocationTest, GivesTheWholeDemandAlsoWhereNothingIsLeftForOtherGpus) {
  state.UpsertPod(MakePod("cpu-only", 0, 6, 1, "a"));
  EXPECT_EQ(Bind(), kBound);
  EXPECT_EQ(api.pod("p").fungible->requested.cpu, Cores(6));
}

TEST_F(AllocationTest, LeavesTheReserveToTheGpusThatStayFreeWhereTheDemandIsTooMuch) {
  // 12 - 8 = 4 cores are left for two GPUs. 2 are reserved for the other GPU, as much as the
  // smallest request.
  state.UpsertPod(MakePod("cpu-only", 0, 8, 1, "a"));
  EXPECT_EQ(Bind(), kBound);
  EXPECT_EQ(api.pod("p").fungible->requested.cpu, Cores(2));
  EXPECT_THAT(events.all[0].message, HasSubstr("the part that node a has now of its demand"));
}

TEST_F(AllocationTest, NeverCutsAPeer) {
  state.UpsertPod(MakePod("peer", 1, 10, 10, "a"));
  EXPECT_EQ(Bind(), kBound);
  EXPECT_THAT(api.calls(), ElementsAre("resize p cpu 2, memory 40G", "bind p a"));
}

TEST_F(AllocationTest, BindsAtTheFloorWhenAQuotaRefusesTheGrowth) {
  api.Refuse("resize", {ErrorCode::kDenied, "Forbidden: exceeded quota: team, requested: cpu=4"});
  EXPECT_EQ(Bind(), kBound);
  EXPECT_EQ(FreeOn("a"), (ResourceVector{Gpus(1), Cores(10), GB(90)}));
  ASSERT_THAT(events.lines(), SizeIs(1));
  EXPECT_EQ(events.all[0].type, "Warning");
  EXPECT_THAT(events.all[0].message, HasSubstr("exceeded quota"));
}

TEST_F(AllocationTest, DoesNotBindIfTheAllocationIsUnknown) {
  api.after_change = [](const Pod& pod) -> Result<> {
    if (pod.fungible->requested.cpu == Cores(2)) return {};
    return Fail(ErrorCode::kTimeout, "no answer");
  };
  EXPECT_THAT(Bind(), HasSubstr("no answer"));
  EXPECT_THAT(api.calls(),
              ElementsAre("resize p cpu 6, memory 40G: timeout", "resize p cpu 2, memory 10G"));
  EXPECT_EQ(FreeOn("a"), (ResourceVector{Gpus(2), Cores(12), GB(100)}));
}

TEST_F(AllocationTest, PutsTheAllocationBackWhenTheBindIsRefused) {
  api.Refuse("bind", {ErrorCode::kInvalid, "no such node"});
  EXPECT_THAT(Bind(), HasSubstr("no such node"));
  EXPECT_THAT(api.calls(), ElementsAre("resize p cpu 6, memory 40G", "bind p a: invalid",
                                       "resize p cpu 2, memory 10G"));
  EXPECT_THAT(events.lines(), IsEmpty());
}

TEST_F(AllocationTest, TriesAgainWithTheWholeDemandAfterAFailure) {
  api.Refuse("bind", {ErrorCode::kInvalid, "no such node"});
  Bind();
  api.RefuseNothing();
  state.UpsertPod(api.pod("p"));
  EXPECT_EQ(Bind(), kBound);
  EXPECT_EQ(api.pod("p").fungible->requested.cpu, Cores(6));
}

// An earlier bind's write may arrive late, after the tuner has cut the pod.
TEST_F(AllocationTest, SetsNothingOnAPodThatHasChangedMeanwhile) {
  api.Change("p", [](Pod&) {});
  EXPECT_THAT(Bind(), HasSubstr("modified"));
  EXPECT_EQ(FreeOn("a").gpus, Gpus(2));
}

// Tests a node on which the tuner has announced growth that the watch has not reported yet.
class WatchBehindTest : public AllocationTest {
 protected:
  WatchBehindTest() {
    Pod peer = MakePod("peer", 1, 4, 10, "a");
    state.UpsertPod(peer);
    peer.requests.main.cpu = Cores(8);
    grown = peer;
  }
  void SetUp() override {
    AllocationTest::SetUp();
    api.Change("p", [](Pod& pod) { pod.resource_version = kObservedUntil + 7; });
    state.RefreshPod(api.pod("p"));
  }

  Pod grown;
};

TEST_F(WatchBehindTest, GivesNothingThatOthersHaveBeenGivenMeanwhile) {
  auto answer = std::async(std::launch::async, [this] { return Bind(); });
  clock.AwaitSleepers(2);
  state.UpsertPod(grown);
  synergy::testing::ObserveUntil(state, kObservedUntil + 100);
  clock.Advance(std::chrono::milliseconds(10));
  EXPECT_THAT(answer.get(), HasSubstr("was given to other pods"));
  EXPECT_THAT(api.calls(), ElementsAre("resize p cpu 6, memory 40G", "resize p cpu 2, memory 10G"));
  EXPECT_EQ(FreeOn("a"), (ResourceVector{Gpus(1), Cores(4), GB(90)}));
}

// If a pod waits for volumes, kube-scheduler writes the node that it promises into the pod's
// status.
class PromiseTest : public WatchBehindTest {
 protected:
  static Pod Promised(int64_t gpus, int64_t cores) {
    Pod pod = MakePod("loader", gpus, cores, 1);
    auto waiting = std::make_shared<Waiting>();
    waiting->nominated_node = "a";
    pod.waiting = std::move(waiting);
    return pod;
  }
  std::string BindWhileThereComes(const Pod& promised) {
    auto answer = std::async(std::launch::async, [this] { return Bind(); });
    clock.AwaitSleepers(2);
    state.UpsertPod(promised);
    synergy::testing::ObserveUntil(state, kObservedUntil + 100);
    clock.Advance(std::chrono::milliseconds(10));
    return answer.get();
  }
};

TEST_F(PromiseTest, GrowthTakesNothingThatWasPromisedMeanwhile) {
  EXPECT_THAT(BindWhileThereComes(Promised(0, 4)), HasSubstr("was promised to other pods"));
  EXPECT_THAT(api.calls(), ElementsAre("resize p cpu 6, memory 40G", "resize p cpu 2, memory 10G"));
  state.UpsertPod(api.pod("p"));
  EXPECT_EQ(Bind(), kBound) << "with what is left";
  EXPECT_EQ(api.pod("p").fungible->requested.cpu, Cores(4));
}

TEST_F(PromiseTest, AmountsBesideTheGrowthDoNotBlockIt) {
  EXPECT_EQ(BindWhileThereComes(Promised(0, 2)), kBound);
  EXPECT_EQ(api.pod("p").fungible->requested.cpu, Cores(6));
}

// kube-scheduler itself decides which pod gets a GPU.
TEST_F(PromiseTest, PromisedGpusAreNotGrowth) {
  EXPECT_EQ(BindWhileThereComes(Promised(2, 2)), kBound);
}

TEST_F(WatchBehindTest, BindsWhenTheWatchHasCaughtUpAndThereIsRoom) {
  auto answer = std::async(std::launch::async, [this] { return Bind(); });
  clock.AwaitSleepers(2);
  synergy::testing::ObserveUntil(state, kObservedUntil + 100);
  clock.Advance(std::chrono::milliseconds(10));
  EXPECT_EQ(answer.get(), kBound);
}

TEST_F(WatchBehindTest, BindsNothingBlindly) {
  auto answer = std::async(std::launch::async, [this] { return Bind(); });
  clock.AwaitSleepers(2);
  clock.Advance(std::chrono::seconds(2));
  EXPECT_THAT(answer.get(), HasSubstr("the watch of pods lags"));
  EXPECT_EQ(FreeOn("a").gpus, Gpus(1));
  EXPECT_EQ(api.pod("p").fungible->requested.cpu, Cores(2));
}

TEST_F(AllocationTest, CountsTheWholeAllocationWhileTheWatchIsBehind) {
  const Pod before = api.pod("p");
  Bind();
  state.UpsertPod(before);
  EXPECT_EQ(FreeOn("a"), (ResourceVector{Gpus(1), Cores(6), GB(60)}));
}

}  // namespace
}  // namespace synergy::extender
