// Tests pods that wait for something other than CPU or memory.

#include <algorithm>
#include <chrono>
#include <string>

#include <gmock/gmock.h>

#include "unit/controller/tuner_fixture.h"

namespace synergy::controller {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using std::chrono::minutes;
using std::chrono::seconds;

constexpr const char* kShort = "0/1 nodes are available: 1 Insufficient cpu.";
constexpr const char* kAffinity =
    "0/1 nodes are available: 1 node(s) didn't match pod anti-affinity rules.";

class TunerRefusalsTest : public TunerTest {
 protected:
  // Lets time pass: the kubelets carry out the specs, and kube-scheduler binds no pod.
  void For(Duration duration) {
    for (Duration passed{}; passed < duration; passed += seconds(1)) {
      KubeSchedulerLooks();
      WithoutKubeScheduler(seconds(1));
    }
  }
  void WithoutKubeScheduler(Duration duration) {
    for (Duration passed{}; passed < duration; passed += seconds(1)) {
      KubeletCatchesUp();
      After(seconds(1));
    }
  }
  // Makes kube-scheduler try the waiting pods once more, and find no node.
  void KubeSchedulerLooks() {
    for (const std::string& name : names) {
      if (!api.pod(name).waiting) continue;
      ChangeWaiting(name, [](Waiting& waiting) { waiting.since += seconds(1); });
    }
  }
  void NewLacksWhatIdleHas() {
    AddPod("idle", "n1", 12, "insensitive");
    AddPod("new", "", 3);
  }
  // Makes the resources that were cut for the pod, which it does not use, go to a third pod.
  void NewLacksWhatIdleHasAndBusyWants() {
    AddPod("idle", "n1", 9, "insensitive");
    AddPod("busy", "n1", 3);
    AddPod("new", "", 3);
  }
  // Returns how many times peers were cut for the pod.
  long PlacesOf(const std::string& name) {
    const auto calls = api.calls();
    return std::count(calls.begin(), calls.end(), "annotate " + name + " synergy.io/hold");
  }
  // Takes the resources that were cut, so that no room is left.
  void FillUp() { AddPod("filler", "n1", 3); }
  void HaveNode(const std::string& name) { state.UpsertNode(synergy::testing::NodeOfFour(name)); }
};

TEST_F(TunerRefusalsTest, CutsNoPodAgainOnANodeWhosePlaceWasNotUsed) {
  NewLacksWhatIdleHas();
  For(minutes(10));
  EXPECT_EQ(PlacesOf("new"), 1);
}

TEST_F(TunerRefusalsTest, KubeSchedulerThatIsAwayRefusesNothing) {
  NewLacksWhatIdleHasAndBusyWants();
  WithoutKubeScheduler(minutes(9));
  EXPECT_GT(PlacesOf("new"), 1);
}

TEST_F(TunerRefusalsTest, ALookBeforeTheRoomIsThereRefusesNothing) {
  NewLacksWhatIdleHasAndBusyWants();
  driver.Step();
  KubeSchedulerLooks();
  driver.Step();
  WithoutKubeScheduler(minutes(9));
  EXPECT_GT(PlacesOf("new"), 1);
}

TEST_F(TunerRefusalsTest, WhileItIsAwayAnotherNodeIsTriedAllTheSame) {
  NewLacksWhatIdleHas();
  WithoutKubeScheduler(seconds(70));
  HaveNode("n2");
  AddPod("other", "n2", 12);
  WithoutKubeScheduler(seconds(50));
  EXPECT_LT(Cpu("other"), Cores(12));
}

TEST_F(TunerRefusalsTest, AfterALongTimeItIsTriedOnceMore) {
  NewLacksWhatIdleHasAndBusyWants();
  For(minutes(60));
  // It was cut at once, and after 11 and 32 minutes.
  EXPECT_EQ(PlacesOf("new"), 3);
}

TEST_F(TunerRefusalsTest, AnotherNodeIsTriedInstead) {
  NewLacksWhatIdleHas();
  For(seconds(70));
  HaveNode("n2");
  AddPod("other", "n2", 12);
  For(seconds(10));
  EXPECT_THAT(*api.annotation("new", annotations::kKeptPlace), HasSubstr("n2"));
  EXPECT_LT(Cpu("other"), Cores(12));
}

TEST_F(TunerRefusalsTest, RoomThatIsNotUsedKeepsNoOtherNodeFromBeingTried) {
  HaveNode("n2");
  AddPod("other", "n2", 12);
  AddPod("new", "", 3);
  For(seconds(20));
  EXPECT_EQ(Cpu("other"), Cores(12));
  For(seconds(20));
  EXPECT_EQ(Cpu("other"), Cores(9));
}

TEST_F(TunerRefusalsTest, APodThatHasLeftMayHaveBeenTheReason) {
  AddPod("blocker", "n1", 0, "insensitive");
  NewLacksWhatIdleHas();
  For(seconds(120));
  ASSERT_EQ(PlacesOf("new"), 1);
  // A pod that arrived later was not refused.
  AddPod("passes", "n1", 0, "insensitive");
  Leaves("passes");
  FillUp();
  For(seconds(30));
  ASSERT_EQ(PlacesOf("new"), 1);
  Leaves("blocker");
  For(seconds(30));
  EXPECT_EQ(PlacesOf("new"), 2);
}

TEST_F(TunerRefusalsTest, APodWithOtherLabelsIsAnotherPod) {
  NewLacksWhatIdleHas();
  For(seconds(120));
  FillUp();
  For(seconds(30));
  ASSERT_EQ(PlacesOf("new"), 1);
  api.Change("new", [](Pod& pod) { pod.labels = {{"app", "other"}}; });
  Report("new");
  For(seconds(30));
  EXPECT_EQ(PlacesOf("new"), 2);
}

TEST_F(TunerRefusalsTest, AnotherPodMayHaveTheNode) {
  NewLacksWhatIdleHas();
  For(seconds(120));
  FillUp();
  AddPod("alike", "", 3);
  For(seconds(10));
  EXPECT_TRUE(HasPlace("alike"));
  EXPECT_FALSE(HasPlace("new"));
}

TEST_F(TunerRefusalsTest, PlaceTakenByAnotherPodIsNoRefusal) {
  NewLacksWhatIdleHas();
  For(seconds(50));
  ASSERT_TRUE(HasPlace("new"));
  AddPod("thief", "n1", 3);
  For(seconds(30));
  EXPECT_EQ(PlacesOf("new"), 2);
}

TEST_F(TunerRefusalsTest, CutsNoPodForOneThatLacksSomethingElse) {
  NewLacksWhatIdleHas();
  SetMessage("new", kAffinity);
  For(minutes(4));
  EXPECT_THAT(api.calls(), IsEmpty());
  // The message is only a hint: its wording may change.
  For(minutes(2));
  EXPECT_THAT(api.calls(), Contains(HasSubstr("resize idle")));
}

TEST_F(TunerRefusalsTest, ActsAsSoonAsAShortageIsReported) {
  NewLacksWhatIdleHas();
  SetMessage("new", kAffinity);
  For(seconds(5));
  SetMessage("new", kShort);
  For(seconds(2));
  EXPECT_THAT(api.calls(), Contains(HasSubstr("resize idle")));
}

TEST_F(TunerRefusalsTest, APlaceEndsAsSoonAsAnotherReasonIsNamed) {
  NewLacksWhatIdleHas();
  SetMessage("new", kShort);
  driver.Step();
  For(seconds(3));
  ASSERT_TRUE(HasPlace("new"));
  SetMessage("new", kAffinity);
  For(seconds(1));
  EXPECT_FALSE(HasPlace("new"));
  For(minutes(8));
  EXPECT_EQ(PlacesOf("new"), 1);
}

// The webhook sets its amounts when it can, and the extender does not bind it before.
TEST_F(TunerRefusalsTest, APlaceholderIsNotCut) {
  AddPod("new", "", 6);
  Change("new", [](ManagedContainer& fungible) { fungible.placeholder = true; });
  SetMessage("new", kShort);
  For(minutes(6));
  EXPECT_THAT(api.calls(), IsEmpty());
}

// An extender's error takes the place of all that the pod lacks.
TEST_F(TunerRefusalsTest, AnErrorIsNoOtherReason) {
  NewLacksWhatIdleHas();
  SetMessage("new", kShort);
  driver.Step();
  For(seconds(3));
  ASSERT_TRUE(HasPlace("new"));
  ChangeWaiting("new", [](Waiting& waiting) {
    waiting.unschedulable = false;
    waiting.message = "Insufficient nvidia.com/gpu; but kube-scheduler counts room on node n2";
  });
  For(seconds(1));
  EXPECT_TRUE(HasPlace("new"));
}

}  // namespace
}  // namespace synergy::controller
