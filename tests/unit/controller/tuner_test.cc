#include "engine/tuner/tuner.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>

#include "controller/profiles/oom_watch.h"
#include "unit/controller/tuner_fixture.h"

namespace synergy::controller {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

using synergy::testing::OneGpu;

TEST_F(TunerTest, CutsThePeerThatLosesLeastAndKeepsThePlace) {
  AddPod("idle", "n1", 4, "insensitive");
  AddPod("busy", "n1", 8);
  AddPod("new", "", 3);
  driver.Step();
  EXPECT_THAT(api.calls(), ElementsAre("annotate new synergy.io/hold", "resize idle cpu 1",
                                       "annotate idle synergy.io/change"));
  EXPECT_THAT(*api.annotation("new", annotations::kKeptPlace), HasSubstr("n1"));
  EXPECT_THAT(events.reasons(), ElementsAre("SynergyReclaimed idle"));
  EXPECT_THAT(events.all.front().message, HasSubstr("room for team/new"));
}

TEST_F(TunerTest, DoesNothingTwiceForThePodThatWaits) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  driver.Step();
  const size_t calls = api.calls().size();
  After(std::chrono::seconds(1));
  After(std::chrono::seconds(10));
  EXPECT_EQ(api.calls().size(), calls);
}

TEST_F(TunerTest, CutsThePodItselfFirst) {
  AddPod("busy", "n1", 9);
  AddPod("new", "", 6);
  driver.Step();
  EXPECT_THAT(api.calls(), ElementsAre("annotate new synergy.io/change", "resize new cpu 3"));
  Report("new");
  After(std::chrono::seconds(2));
  EXPECT_EQ(Cpu("busy"), Cores(9));  // the pod fits now
}

TEST_F(TunerTest, CutsNoPodBelowItsFloor) {
  for (const char* name : {"a", "b", "c"}) AddPod(name, "n1", 3);
  AddPod("d", "", 4);
  Change("d", [](ManagedContainer& pod) { pod.floor = OneGpu(4); });
  driver.Step();
  EXPECT_THAT(api.calls(), IsEmpty());
}

// If init containers request 8 cores, the pod counts 8 cores, however far it is cut.
TEST_F(TunerTest, CutsNoPodForAmountsKeptByInitContainers) {
  AddPod("first", "n1", 9);
  Change("first", [](ManagedContainer& pod) { pod.init_peak.cpu = Cores(8); });
  AddPod("second", "", 5);
  Change("second", [](ManagedContainer& pod) { pod.floor = OneGpu(5); });
  driver.Step();
  EXPECT_THAT(api.calls(), IsEmpty());
}

TEST_F(TunerTest, CutsAsFarAsInitContainersLetIt) {
  AddPod("first", "n1", 9);
  Change("first", [](ManagedContainer& pod) { pod.init_peak.cpu = Cores(8); });
  AddPod("second", "", 4);
  Change("second", [](ManagedContainer& pod) { pod.floor = OneGpu(4); });
  driver.Step();
  EXPECT_THAT(api.calls(), Contains("resize first cpu 8"));
}

TEST_F(TunerTest, LeavesNodesAloneWhereThePodMayNotGo) {
  AddPod("idle", "n1", 12, "insensitive");
  Node node = N1();
  node.taints = {{"team", "other", "NoSchedule"}};
  state.UpsertNode(node);
  AddPod("new", "", 3);
  driver.Step();
  EXPECT_THAT(api.calls(), IsEmpty());
}

TEST_F(TunerTest, GivesThePlaceUpWhenThePodIsBound) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  driver.Step();
  IsBound("new");
  KubeletCatchesUp();
  driver.Step();
  EXPECT_FALSE(HasPlace("new"));
}

TEST_F(TunerTest, RemindsKubeSchedulerOfRoomThatItDoesNotUse) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  driver.Step();
  After(std::chrono::seconds(3));
  EXPECT_FALSE(api.annotation("new", annotations::kRoomSeen));  // the cut is not in force yet
  KubeletCatchesUp();
  driver.Step();
  const size_t calls = api.calls().size();
  driver.Step();
  EXPECT_EQ(api.calls().size(), calls);
  After(std::chrono::seconds(1));
  EXPECT_TRUE(api.annotation("new", annotations::kRoomSeen));
  for (int i = 0; i < 30; ++i) After(std::chrono::seconds(1));
  EXPECT_EQ(api.calls().size(), calls + 5);  // after 1, 3, 7, 15 and 31 s
}

TEST_F(TunerTest, RemindsKubeSchedulerOfRoomThatWasThereAllTheTime) {
  AddPod("idle", "n1", 1, "insensitive");
  AddPod("new", "", 3);
  driver.Step();
  EXPECT_THAT(api.calls(), IsEmpty());
  After(std::chrono::seconds(1));
  EXPECT_THAT(api.calls(), ElementsAre("annotate new synergy.io/room-seen"));
  EXPECT_TRUE(api.annotation("new", annotations::kRoomSeen));
}

TEST_F(TunerTest, GivesThePlaceUpAfterAWhile) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  driver.Step();
  KubeletCatchesUp();
  After(std::chrono::seconds(61));
  EXPECT_FALSE(HasPlace("new"));
}

TEST_F(TunerTest, GivesThePlaceUpForAPodOfHigherPriority) {
  AddPod("a", "n1", 3);
  AddPod("b", "n1", 3);
  AddPod("idle", "n1", 4, "insensitive");
  AddPod("new", "", 3);
  driver.Step();
  ASSERT_TRUE(HasPlace("new"));
  KubeletCatchesUp();
  AddPod("equal", "", 3);
  After(std::chrono::seconds(2));
  ASSERT_TRUE(HasPlace("new"));  // the last GPU
  AddPod("urgent", "", 3);
  api.Change("urgent", [](Pod& pod) { pod.priority = 1; });
  Report("urgent");
  After(std::chrono::seconds(2));
  EXPECT_FALSE(HasPlace("new"));
}

TEST_F(TunerTest, PutsBackACutThatTheKubeletCannotMake) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  driver.Step();
  Change("idle", [](ManagedContainer& pod) {
    pod.resize = ResizeState::kRefused;
    pod.resize_message = "in use";
  });
  After(std::chrono::seconds(31));
  EXPECT_EQ(Cpu("idle"), Cores(12));
  EXPECT_TRUE(api.annotation("idle", annotations::kUnshrinkableUntil));
  EXPECT_FALSE(HasPlace("new"));
  EXPECT_THAT(events.reasons(), Contains("SynergyDeferred idle"));
  Report("idle");
  const size_t calls = api.calls().size();
  After(std::chrono::seconds(60));
  EXPECT_EQ(api.calls().size(), calls);  // the pod cannot be shrunk for a while
}

TEST_F(TunerTest, RemindsTheKubeletOfMemoryThatIsStillInForce) {
  AddPod("fat", "n1", 9, "insensitive");
  Change("fat", [this](ManagedContainer& pod) {
    pod.requested = pod.in_force = pod.set_aside = OneGpu(9, 64);
    pod.memory_reading = MemoryReading{GiB(1), false, clock.WallNow()};
  });
  AddPod("new", "", 3);
  driver.Step();
  const size_t calls = api.calls().size();
  After(std::chrono::milliseconds(100));
  EXPECT_EQ(api.calls().size(), calls);
  After(std::chrono::seconds(2));
  EXPECT_EQ(api.calls().size(), calls + 1);
  EXPECT_EQ(api.calls().back(), "annotate fat synergy.io/change");
  After(std::chrono::seconds(1));
  EXPECT_EQ(api.calls().size(), calls + 1);
}

TEST_F(TunerTest, CutsNoMemoryThatIsInUseOrNotMeasured) {
  AddPod("fat", "n1", 9, "insensitive");
  Change("fat", [](ManagedContainer& pod) {
    pod.requested = pod.in_force = pod.set_aside = OneGpu(9, 64);
  });
  AddPod("new", "", 3);
  After(std::chrono::minutes(10));
  EXPECT_THAT(api.calls(), IsEmpty());
  Change("fat", [this](ManagedContainer& pod) {
    pod.memory_reading = MemoryReading{GiB(60), false, clock.WallNow()};
  });
  After(std::chrono::minutes(1));
  EXPECT_THAT(api.calls(), IsEmpty());
  Change("fat", [this](ManagedContainer& pod) {
    pod.memory_reading = MemoryReading{GiB(20), false, clock.WallNow()};
  });
  After(std::chrono::minutes(1));
  EXPECT_EQ(api.pod("fat").fungible->requested.memory, GiB(60));
}

TEST_F(TunerTest, OomKillAfterAChangeEndsChangesOfMemory) {
  AddPod("fat", "n1", 9, "insensitive");
  Change("fat", [this](ManagedContainer& pod) {
    pod.requested = pod.in_force = pod.set_aside = OneGpu(9, 60);
    pod.memory_reading = MemoryReading{GiB(1), false, clock.WallNow()};
    pod.change = Changed(ChangeKind::kReclaimed, OneGpu(9, 64), OneGpu(9, 60));
    pod.change->at = pod.oom_killed.emplace(clock.WallNow());
  });
  driver.Step();
  EXPECT_THAT(events.reasons(), ElementsAre("SynergyMemoryKill fat"));
  AddPod("new", "", 3);
  api.ChangeManaged("new",
                    [](ManagedContainer& pod) { pod.requested = pod.floor = OneGpu(3, 30); });
  Report("new");
  After(std::chrono::minutes(1));
  EXPECT_EQ(api.pod("fat").fungible->requested.memory, GiB(60));
}

TEST_F(TunerTest, DividesWhatAPodLeavesAfterAMoment) {
  AddPod("stays", "n1", 6);
  AddPod("leaves", "n1", 6);
  Leaves("leaves");
  driver.Step();
  EXPECT_THAT(api.calls(), IsEmpty());  // waiting pods come first
  After(std::chrono::seconds(1));
  EXPECT_EQ(Cpu("stays"), Cores(6));  // announced
  EXPECT_TRUE(api.annotation("stays", annotations::kChange));
  After(std::chrono::seconds(1));
  EXPECT_EQ(Cpu("stays"), Cores(9));
  EXPECT_THAT(events.reasons(), ElementsAre("SynergyGrown stays"));
}

TEST_F(TunerTest, WithdrawsAGrowthIfAnotherPodTookTheAmounts) {
  AddPod("stays", "n1", 6);
  AddPod("leaves", "n1", 6);
  Leaves("leaves");
  driver.Step();
  EXPECT_THAT(api.calls(), IsEmpty());  // waiting pods come first
  After(std::chrono::seconds(1));
  AddPod("new", "n1", 6);
  After(std::chrono::seconds(1));
  EXPECT_EQ(Cpu("stays"), Cores(6));
  EXPECT_THAT(ChangeOf("stays"), HasSubstr("was not made"));
}

TEST_F(TunerTest, AWithdrawalThatFailsIsRepeatedSoon) {
  AddPod("stays", "n1", 6);
  AddPod("leaves", "n1", 6);
  Leaves("leaves");
  driver.Step();
  After(std::chrono::seconds(1));
  AddPod("new", "n1", 6);
  api.Refuse("get stays", {ErrorCode::kUnavailable, "no answer"});
  After(std::chrono::seconds(1));
  EXPECT_THAT(ChangeOf("stays"), Not(HasSubstr("was not made")));
  api.RefuseNothing();
  After(std::chrono::seconds(10));
  EXPECT_THAT(ChangeOf("stays"), HasSubstr("was not made"));
}

TEST_F(TunerTest, WithdrawsAGrowthThatMayCostThePodItsGpusByNow) {
  AddPod("stays", "n1", 6);
  AddPod("leaves", "n1", 6);
  Leaves("leaves");
  driver.Step();
  After(std::chrono::seconds(1));
  Change("stays",
         [](ManagedContainer& pod) { pod.devices = DeviceReading{DeviceSafety::kLost, "gone"}; });
  After(std::chrono::seconds(1));
  EXPECT_EQ(Cpu("stays"), Cores(6));
  EXPECT_THAT(ChangeOf("stays"), HasSubstr("was not made"));
}

TEST_F(TunerTest, LeavesPodsWithUnsafeDevicesAndReportsIt) {
  AddPod("idle", "n1", 12, "insensitive");
  Change("idle", [](ManagedContainer& pod) {
    pod.devices = DeviceReading{DeviceSafety::kUnsafe, "hidden"};
  });
  AddPod("new", "", 3);
  driver.Step();
  After(std::chrono::minutes(6));
  EXPECT_EQ(Cpu("idle"), Cores(12));
  EXPECT_FALSE(HasPlace("new"));
  EXPECT_THAT(events.reasons(), Contains("SynergyRespected idle"));
}

TEST_F(TunerTest, ResizesNoPodOfANodeOnWhichAResizeHasCostAPodItsGpus) {
  AddPod("lost", "n1", 3);
  AddPod("idle", "n1", 9, "insensitive");
  Change("lost", [](ManagedContainer& pod) {
    pod.devices = DeviceReading{DeviceSafety::kLost, "create the pod again"};
  });
  AddPod("new", "", 3);
  driver.Step();
  After(std::chrono::minutes(6));
  EXPECT_EQ(Cpu("idle"), Cores(9));
  EXPECT_FALSE(HasPlace("new"));
  EXPECT_THAT(events.reasons(), IsSupersetOf({"SynergyDevicesLost lost", "SynergyDevicesLost n1",
                                              "SynergyRespected idle"}));
  Change("lost", [](ManagedContainer& pod) {
    pod.devices = DeviceReading{DeviceSafety::kSafe, "they are listed again"};
  });
  After(std::chrono::minutes(6));
  EXPECT_LT(Cpu("idle"), Cores(9)) << "no pod of the node is without its GPUs any more";
}

TEST_F(TunerTest, MovesSurplusEveryRoundCutsFirst) {
  AddPod("idle", "n1", 6, "insensitive");
  AddPod("busy", "n1", 4);
  After(std::chrono::minutes(5));
  EXPECT_LT(Cpu("idle"), Cores(6));
  EXPECT_EQ(Cpu("busy"), Cores(4));
  KubeletCatchesUp();
  driver.Step();
  After(std::chrono::seconds(1));
  EXPECT_EQ(Cpu("busy"), Cores(9));
  KubeletCatchesUp();
  const size_t calls = api.calls().size();
  driver.Step();
  After(std::chrono::minutes(5));
  KubeletCatchesUp();
  After(std::chrono::minutes(5));
  EXPECT_EQ(api.calls().size(), calls);  // nothing left to gain
}

TEST_F(TunerTest, APodThatDoesNothingMakesNoSmallGainWorthAChange) {
  AddPod("nothing", "n1", 0, "insensitive");
  AddPod("busy", "n1", 6);
  const Duration round = std::chrono::minutes(5);
  Change("nothing", [&](ManagedContainer& pod) {
    pod.floor = OneGpu(0);
    pod.change =
        ChangeRecord{ChangeKind::kGrown, OneGpu(0), OneGpu(0), "", clock.WallNow() + round};
  });
  state.UpsertPod(synergy::testing::OnNode(
      synergy::testing::MakePod("filler", {Gpus(1), MilliCpu(5800), GiB(1)}), "n1"));
  After(round);
  EXPECT_EQ(ChangeOf("busy"), "") << "0.2 cores more are 3 %";
}

TEST_F(TunerTest, GivesBackWhatItTookAsSoonAsARoundHasPassed) {
  AddPod("stays", "n1", 9);
  AddPod("idle", "n1", 1, "insensitive");
  After(std::chrono::minutes(4));
  AddPod("comes", "", 3);
  driver.Step();
  EXPECT_EQ(Cpu("stays"), Cores(8));
  IsBound("comes");
  KubeletCatchesUp();
  After(std::chrono::seconds(1));
  Leaves("comes");
  // The rounds after 5 and 10 minutes would be too early and too late.
  After(std::chrono::seconds(4 * 60 + 57));
  EXPECT_EQ(Cpu("stays"), Cores(8));
  After(std::chrono::seconds(3));
  After(std::chrono::seconds(1));
  EXPECT_EQ(Cpu("stays"), Cores(9));
}

// The pod may start with the amounts of its binding after the room has gone to another pod.
TEST_F(TunerTest, DoesNotCutAPodBeforeTheKubeletHasStartedIt) {
  AddPod("fat", "n1", 12, "insensitive");
  Change("fat", [](ManagedContainer& pod) { pod.reported = false; });
  AddPod("new", "", 3);
  driver.Step();
  EXPECT_THAT(api.calls(), Not(Contains(HasSubstr("resize fat"))));
  Change("fat", [](ManagedContainer& pod) { pod.reported = true; });
  After(std::chrono::seconds(2));
  EXPECT_THAT(api.calls(), Contains(HasSubstr("resize fat")));
}

// The kubelet may start the pod with the amounts of its binding. They are unknown until it reports
// them.
TEST_F(TunerTest, DoesNotCutAPodThatIsBoundWhileItsCutIsAnnounced) {
  AddPod("busy", "n1", 9);
  AddPod("new", "", 6);
  api.after_change = [this](const Pod& pod) {
    if (pod.node.empty()) IsBound(pod.name);
    return Result<>{};
  };
  driver.Step();
  EXPECT_EQ(Cpu("new"), Cores(6));
  EXPECT_THAT(api.calls(),
              ElementsAre("annotate new synergy.io/change", HasSubstr("resize new cpu 3: "),
                          "annotate new synergy.io/change"));
  EXPECT_THAT(ChangeOf("new"), HasSubstr("was not made"));
}

TEST_F(TunerTest, DoesNotCutAPodThatWasBoundBeforeItsCutWasAnnounced) {
  AddPod("busy", "n1", 9);
  AddPod("new", "", 6);
  // The watch has not reported the binding yet.
  IsBound("new");
  api.ChangeManaged("new", [](ManagedContainer& pod) {
    pod.change = Changed(ChangeKind::kAllocated, OneGpu(6), OneGpu(6));
  });
  driver.Step();
  EXPECT_EQ(Cpu("new"), Cores(6));
  EXPECT_EQ(api.pod("new").fungible->change->kind, ChangeKind::kAllocated);
}

// The pod was changed before, so its amounts match none in its record.
TEST_F(TunerTest, RecordsAResizeThatGotNoAnswerLater) {
  AddPod("idle", "n1", 4, "insensitive");
  Change("idle", [](ManagedContainer& pod) {
    pod.change = Changed(ChangeKind::kGrown, OneGpu(3), OneGpu(4));
  });
  AddPod("busy", "n1", 8);
  AddPod("new", "", 3);
  api.after_change = [](const Pod& pod) -> Result<> {
    if (pod.fungible->Settled()) return {};
    return Fail(ErrorCode::kTimeout, "the connection broke");
  };
  driver.Step();
  ASSERT_EQ(Cpu("idle"), Cores(1));
  ASSERT_EQ(api.pod("idle").fungible->change->kind, ChangeKind::kGrown);
  api.after_change = [](const Pod&) -> Result<> { return {}; };
  After(std::chrono::minutes(5));
  EXPECT_THAT(ChangeOf("idle"), HasSubstr("Reclaimed"));
  EXPECT_THAT(events.reasons(), Not(Contains("SynergyRespected idle")));
}

TEST_F(TunerTest, RecordsWhatAPredecessorCutAndDidNotComeToRecord) {
  AddPod("idle", "n1", 1, "insensitive");
  Change("idle", [](ManagedContainer& pod) {
    pod.change = Changed(ChangeKind::kGrown, OneGpu(3), OneGpu(4));
    pod.requested = pod.in_force = pod.set_aside = OneGpu(2);
    pod.resized_by_us_alone = true;
  });
  driver.StartOver();
  driver.Step();
  EXPECT_THAT(api.calls(), ElementsAre("annotate idle synergy.io/change"));
  EXPECT_THAT(ChangeOf("idle"), HasSubstr("Reclaimed"));
  EXPECT_THAT(events.reasons(), Not(Contains("SynergyRespected idle")));
}

TEST_F(TunerTest, RespectsWhatOthersHaveResizedToo) {
  AddPod("idle", "n1", 1, "insensitive");
  Change("idle", [](ManagedContainer& pod) {
    pod.change = Changed(ChangeKind::kGrown, OneGpu(3), OneGpu(4));
    pod.requested = pod.in_force = pod.set_aside = OneGpu(2);
    pod.resized_by_us_alone = false;
  });
  driver.StartOver();
  driver.Step();
  EXPECT_THAT(api.calls(), IsEmpty());
  EXPECT_THAT(events.reasons(), Contains("SynergyRespected idle"));
}

TEST_F(TunerTest, TriesAGrowthThatIsRefusedOnceARound) {
  AddPod("stays", "n1", 6);
  AddPod("leaves", "n1", 6);
  api.Refuse("resize", {ErrorCode::kDenied, "exceeded quota"});
  Leaves("leaves");
  driver.Step();
  for (int i = 0; i < 20; ++i) After(std::chrono::seconds(2));
  EXPECT_THAT(api.calls(),
              ElementsAre("annotate stays synergy.io/change", HasSubstr("resize stays"),
                          "annotate stays synergy.io/change"));
}

TEST_F(TunerTest, DoesNotBringBackAPodThatEndedWhileItWasChanged) {
  AddPod("stays", "n1", 6);
  AddPod("leaves", "n1", 6);
  Leaves("leaves");
  // The watch reports the announcement before the answer to it arrives.
  const Pod stays = api.pod("stays");
  state.RemovePod(stays.uid);
  state.RefreshPod(stays);
  EXPECT_EQ(state.known_pods(), 0u);
}

TEST_F(TunerTest, TheCopyDoesNotGoBackWhenTheWatchWasFasterThanTheAnswer) {
  AddPod("a", "n1", 6);
  const Pod answer = api.pod("a");
  Change("a", [](ManagedContainer& pod) { pod.requested = OneGpu(9); });
  state.RefreshPod(answer);
  EXPECT_EQ(state.FindPod(answer.uid)->fungible->requested, OneGpu(9));
}

TEST_F(TunerTest, RespectsWhatAUserHasChangedByHand) {
  AddPod("stays", "n1", 6);
  AddPod("leaves", "n1", 6);
  Leaves("leaves");
  driver.Step();
  After(std::chrono::seconds(1));
  KubeletCatchesUp();
  driver.Step();
  Change("stays", [](ManagedContainer& pod) {
    pod.requested = OneGpu(5);
    pod.resized_by_us_alone = false;
  });
  KubeletCatchesUp();
  const size_t calls = api.calls().size();
  After(std::chrono::minutes(5));
  After(std::chrono::minutes(5));
  EXPECT_EQ(api.calls().size(), calls);
  EXPECT_THAT(events.reasons(), Contains("SynergyRespected stays"));
}

TEST_F(TunerTest, ReportsThatAProfileHasChanged) {
  AddPod("a", "n1", 9);
  profiles.generation = 2;
  After(std::chrono::minutes(5));
  EXPECT_THAT(events.reasons(), Contains("SynergyRespected a"));
}

TEST_F(TunerTest, APodKeepsWhatItHasWhenItsProfileIsGone) {
  AddPod("a", "n1", 4, "gone");
  AddPod("new", "", 9);
  After(std::chrono::minutes(5));
  EXPECT_THAT(api.calls(), Not(Contains(HasSubstr("resize a"))));
}

TEST_F(TunerTest, WithdrawsWhatAPredecessorAnnounced) {
  AddPod("a", "n1", 9);
  Change("a", [](ManagedContainer& pod) {
    pod.change = Changed(ChangeKind::kGrown, OneGpu(9), OneGpu(12));
  });
  clock.Advance(std::chrono::seconds(10));
  driver.StartOver();
  driver.Step();
  EXPECT_THAT(ChangeOf("a"), HasSubstr("was not made"));
  EXPECT_EQ(Cpu("a"), Cores(9));
}

TEST_F(TunerTest, PutsBackACutThatAPredecessorLeftUnfinished) {
  AddPod("a", "n1", 9);
  Change("a", [](ManagedContainer& pod) {
    pod.change = Changed(ChangeKind::kReclaimed, OneGpu(9, 8), OneGpu(9, 4));
    pod.in_force = pod.set_aside = OneGpu(9, 8);
  });
  clock.Advance(std::chrono::seconds(10));
  driver.StartOver();
  driver.Step();
  After(std::chrono::seconds(31));
  EXPECT_EQ(api.pod("a").fungible->requested.memory, GiB(8));
}

TEST_F(TunerTest, GoesOnWithWhatItWasKeptFromForAMoment) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  may_act = false;
  driver.Step();
  EXPECT_THAT(api.calls(), IsEmpty());
  may_act = true;
  driver.Step();
  EXPECT_TRUE(HasPlace("new"));
  EXPECT_EQ(Cpu("idle"), Cores(9));
}

}  // namespace
}  // namespace synergy::controller
