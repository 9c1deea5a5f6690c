// Tests that CPU and memory are reallocated separately.

#include <algorithm>
#include <chrono>
#include <string>

#include <gmock/gmock.h>

#include "unit/controller/tuner_fixture.h"

namespace synergy::controller {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using std::chrono::minutes;
using std::chrono::seconds;
using synergy::testing::OneGpu;

class TunerDimensionsTest : public TunerTest {
 protected:
  // Adds a pod that has everything, on a node where another one waits for some of both.
  void LackBoth() {
    AddPod("fat", "n1", 12, "insensitive");
    Change("fat", [this](ManagedContainer& pod) {
      pod.requested = pod.in_force = pod.set_aside = OneGpu(12, 64);
      pod.memory_reading = MemoryReading{GiB(1), false, clock.WallNow()};
    });
    AddPod("new", "", 3);
    driver.Step();
  }
  void Answers(const std::string& name, ResizeState answer) {
    Change(name, [answer](ManagedContainer& pod) {
      pod.resize = answer;
      pod.resize_message = "the kubelet's words";
    });
    driver.Step();
  }
  // Makes the node appear as after a restart, or with other labels.
  void NodeIs(const std::string& boot_id) {
    Node node = N1();
    node.boot_id = boot_id;
    state.UpsertNode(node);
  }
};

TEST_F(TunerDimensionsTest, CutsCpuFirstAndThenMemory) {
  LackBoth();
  EXPECT_THAT(api.calls(), ElementsAre("annotate new synergy.io/hold", "resize fat cpu 9",
                                       "annotate fat synergy.io/change"));
  EXPECT_EQ(api.pod("fat").fungible->change->to, OneGpu(9, 64));
  KubeletCatchesUp();
  driver.Step();
  EXPECT_THAT(api.calls(), Contains("resize fat memory 60Gi"));
  EXPECT_EQ(api.pod("fat").fungible->change->from, OneGpu(9, 64));
  EXPECT_EQ(api.pod("fat").fungible->change->to, OneGpu(9, 60));
}

TEST_F(TunerDimensionsTest, ThePlaceIsKeptUntilBothAreCut) {
  LackBoth();
  KubeletCatchesUp();
  driver.Step();
  After(seconds(5));
  EXPECT_FALSE(api.annotation("new", annotations::kRoomSeen));
  KubeletCatchesUp();
  driver.Step();
  After(seconds(1));
  EXPECT_TRUE(api.annotation("new", annotations::kRoomSeen));
}

// The cut of the CPU has been made, and stays.
TEST_F(TunerDimensionsTest, MemoryThatCannotBeCutIsPutBackAlone) {
  LackBoth();
  KubeletCatchesUp();
  driver.Step();
  Change("fat", [](ManagedContainer& pod) { pod.resize = ResizeState::kRefused; });
  After(seconds(31));
  EXPECT_EQ(api.pod("fat").fungible->requested, OneGpu(9, 64));
  EXPECT_EQ(api.calls().back().find("annotate"), 0U);
  EXPECT_THAT(api.calls(), Contains("resize fat memory 64Gi"));
  EXPECT_FALSE(HasPlace("new"));
}

// From then on others may use the room, so that more would not fit.
TEST_F(TunerDimensionsTest, ACutThatTheKubeletHasMadeIsNotPutBack) {
  LackBoth();
  KubeletCatchesUp();
  driver.Step();
  const ResourceVector cut = api.pod("fat").fungible->requested;
  api.ChangeManaged("fat", [](ManagedContainer& pod) { pod.in_force = pod.requested; });
  After(seconds(31));
  EXPECT_EQ(api.pod("fat").fungible->requested, cut);
  EXPECT_FALSE(api.pod("fat").fungible->Announced());
  EXPECT_THAT(api.calls(), Not(Contains("resize fat memory 64Gi")));
}

TEST_F(TunerDimensionsTest, ACutThatTheKubeletMakesMeanwhileIsNotPutBack) {
  LackBoth();
  KubeletCatchesUp();
  driver.Step();
  const ResourceVector cut = api.pod("fat").fungible->requested;
  api.before_call = [this](std::string_view call) {
    if (call.starts_with("resize fat memory 64Gi"))
      api.ChangeManaged("fat", [](ManagedContainer& pod) { pod.in_force = pod.requested; });
    return Result<>();
  };
  After(seconds(31));
  EXPECT_EQ(api.pod("fat").fungible->requested, cut);
  EXPECT_FALSE(api.pod("fat").fungible->Announced());
}

TEST_F(TunerDimensionsTest, AGrowthOfBothIsAnnouncedOneAfterTheOther) {
  profiles.profiles["both"] = std::make_shared<const JobProfile>(
      JobProfile::Create(Gpus(1),
                         {{Cores(1), GiB(4), 1}, {Cores(9), GiB(4), 5}, {Cores(9), GiB(32), 9}})
          ->WithProcessMemory(GiB(1)));
  AddPod("grows", "n1", 1, "both");
  After(minutes(5));
  EXPECT_EQ(api.pod("grows").fungible->change->to, OneGpu(9, 4));
  After(seconds(1));
  EXPECT_THAT(api.calls(), Contains("resize grows cpu 9"));
  KubeletCatchesUp();
  driver.Step();
  EXPECT_EQ(api.pod("grows").fungible->change->to, OneGpu(9, 32));
  After(seconds(1));
  EXPECT_THAT(api.calls(), Contains("resize grows memory 32Gi"));
}

// Our resize of the CPU does not undo a user's resize of the memory, even before the watch has
// reported that.
TEST_F(TunerDimensionsTest, KeepsForeignChangesOfTheOtherDimension) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  api.ChangeManaged("idle", [](ManagedContainer& pod) { pod.requested = OneGpu(12, 8); });
  driver.Step();
  EXPECT_EQ(api.pod("idle").fungible->requested, OneGpu(9, 8));
}

// Our resize does not undo a user's resize of the CPU either, whether our copy contains it or not.
TEST_F(TunerDimensionsTest, KeepsForeignChangesOfTheSameDimension) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  api.ChangeManaged("idle", [](ManagedContainer& pod) { pod.requested = OneGpu(11); });
  driver.Step();
  EXPECT_EQ(api.pod("idle").fungible->requested, OneGpu(11));
  EXPECT_THAT(api.calls(), Contains(HasSubstr("resize idle cpu 9: ")));
}

TEST_F(TunerDimensionsTest, KeepsForeignChangesOfAGrowingPod) {
  AddPod("grows", "n1", 6);
  AddPod("leaves", "n1", 6);
  Leaves("leaves");
  driver.Step();
  After(seconds(1));
  api.ChangeManaged("grows", [](ManagedContainer& pod) { pod.requested = OneGpu(5); });
  After(seconds(1));
  EXPECT_EQ(api.pod("grows").fungible->requested, OneGpu(5));
  EXPECT_THAT(api.calls(), Contains(HasSubstr("resize grows cpu 9: ")));
}

// A write that does not change a pod's amounts does not stop a change of these.
TEST_F(TunerDimensionsTest, OtherNewsOfAPodKeepsNoResizeBack) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  api.Change("idle", [](Pod& pod) { pod.labels.emplace_back("seen", "yes"); });
  driver.Step();
  EXPECT_EQ(Cpu("idle"), Cores(9));
}

TEST_F(TunerDimensionsTest, InfeasibleResizeIsNotRetriedOnThatNode) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  driver.Step();
  Answers("idle", ResizeState::kInfeasible);
  EXPECT_EQ(Cpu("idle"), Cores(12));
  KubeletCatchesUp();
  const size_t calls = api.calls().size();
  for (int i = 0; i < 5; ++i) After(minutes(10));
  EXPECT_EQ(api.calls().size(), calls);
}

TEST_F(TunerDimensionsTest, InfeasibleResizeIsRetriedAfterALongTime) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  driver.Step();
  Answers("idle", ResizeState::kInfeasible);
  KubeletCatchesUp();
  for (int i = 0; i < 13; ++i) After(minutes(5));
  const auto calls = api.calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "resize idle cpu 9"), 2);
}

TEST_F(TunerDimensionsTest, InfeasibleResizeIsRetriedAfterAReboot) {
  NodeIs("one");
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  driver.Step();
  Answers("idle", ResizeState::kInfeasible);
  KubeletCatchesUp();
  for (int i = 0; i < 3; ++i) After(minutes(5));
  ASSERT_EQ(Cpu("idle"), Cores(12));
  NodeIs("two");
  After(minutes(5));
  EXPECT_EQ(Cpu("idle"), Cores(9));
}

TEST_F(TunerDimensionsTest, TheOtherDimensionIsTunedAllTheSame) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  driver.Step();
  Answers("idle", ResizeState::kInfeasible);
  KubeletCatchesUp();
  Leaves("new");
  profiles.profiles["insensitive"] = std::make_shared<const JobProfile>(
      JobProfile::Create(Gpus(1), {{Cores(1), GiB(4), 5}, {Cores(1), GiB(32), 9}})
          ->WithProcessMemory(GiB(1)));
  profiles.generation = 2;
  for (int i = 0; i < 2; ++i) {
    After(minutes(5));
    After(seconds(2));
    KubeletCatchesUp();
  }
  EXPECT_EQ(api.pod("idle").fungible->requested.memory, GiB(32));
  EXPECT_EQ(Cpu("idle"), Cores(12));
}

// The static CPU manager assigns CPUs only to Guaranteed pods.
TEST_F(TunerDimensionsTest, PodsOfAnotherEnforcementAreTriedAllTheSame) {
  AddPod("pinned", "n1", 12, "insensitive");
  Change("pinned", [](ManagedContainer& pod) { pod.enforcement = Enforcement::kStrict; });
  AddPod("new", "", 3);
  driver.Step();
  Answers("pinned", ResizeState::kInfeasible);
  KubeletCatchesUp();
  Leaves("pinned");
  AddPod("idle", "n1", 12, "insensitive");
  for (int i = 0; i < 10; ++i) After(seconds(1));
  EXPECT_EQ(Cpu("idle"), Cores(9));
}

}  // namespace
}  // namespace synergy::controller
