#include "engine/tuner/gang_room.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "unit/engine/tuner_fixture.h"

namespace synergy::testing {
namespace {

using std::chrono::seconds;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

// Beside n1 there is the empty node n2, with 8 GPUs of which 6 are free, and without free CPU.
class GangRoomTest : public TunerPlanTest {
 protected:
  GangRoomTest() {
    state.UpsertNode(MakeNode("n2", {Gpus(8), Cores(24), GiB(64)}));
    Reports(ManagedPod("idle-a", "n2", 12, "insensitive"));
    Reports(ManagedPod("idle-b", "n2", 12, "insensitive"));
    Plan();
  }

  static Pod Member(int number, int size, int64_t cores = 3) {
    Pod pod = ManagedPod("m-" + std::to_string(number), "", cores);
    pod.gang = std::make_shared<const Gang>(Gang{"team/g", size, {}});
    return pod;
  }
  void GangWaits(int size, int64_t cores = 3) {
    for (int i = 0; i < size; ++i) Reports(Member(i, size, cores));
  }
  // Carries out the decisions, which the watch reports.
  void CarryOut() {
    const std::vector<TunerAction> actions = plan.actions;
    for (const TunerAction& action : actions) {
      tuner.OnResult(memory, action, true, at);
      Pod pod = *state.FindPod(action.pod->uid);
      if (const auto* resize = std::get_if<tuner_action::Resize>(&action.what)) {
        const ResourceVector to = resize->change.to;
        pod = With(pod, [&to](ManagedContainer& has) {
          has.requested = has.in_force = has.set_aside = to;
        });
        pod.requests.main = to;
      } else if (const auto* place = std::get_if<tuner_action::KeepPlace>(&action.what)) {
        auto waiting = std::make_shared<Waiting>(*pod.waiting);
        waiting->kept_node = place->node;
        waiting->kept_until = place->until;
        pod.waiting = std::move(waiting);
      }
      Reports(pod);
    }
  }
  void PlanAndCarryOut(int times) {
    for (int i = 0; i < times; ++i) {
      Plan();
      CarryOut();
    }
  }
  // Returns the amounts that remain after the planned resizes.
  MilliCpu LeftByCuts() const {
    MilliCpu left;
    for (const TunerAction& action : plan.actions) {
      const auto* resize = std::get_if<tuner_action::Resize>(&action.what);
      if (resize != nullptr) left += resize->change.to.cpu;
    }
    return left;
  }
};

TEST_F(GangRoomTest, PlacesThatGangPreemptionKeepsGetTheCutsThatTheyLack) {
  for (int i = 0; i < 6; ++i) {
    Pod member = Member(i, 6);
    auto waiting = std::make_shared<Waiting>(*member.waiting);
    waiting->kept_node = "n2";
    waiting->kept_until = at.wall + std::chrono::minutes(1);
    member.waiting = std::move(waiting);
    Reports(member);
  }
  EXPECT_THAT(Plan(), UnorderedElementsAre("resize idle-a", "resize idle-b"));
  EXPECT_EQ(LeftByCuts(), Cores(24 - 6 * 3));
}

TEST_F(GangRoomTest, AllPlacesAreKeptAndThenAllIsCutAtOnce) {
  GangWaits(8);
  const std::vector<std::string> kept = Plan();
  EXPECT_THAT(kept, SizeIs(8));
  EXPECT_THAT(kept, Each(StartsWith("keep_place m-")));
  // Cuts begin only after all places are written.
  for (size_t i = 0; i + 1 < plan.actions.size(); ++i)
    tuner.OnResult(memory, plan.actions[i], true, at);
  const TunerAction last = plan.actions.back();
  EXPECT_THAT(Plan(), IsEmpty());
  tuner.OnResult(memory, last, true, at);
  EXPECT_THAT(Plan(), UnorderedElementsAre("resize idle-a", "resize idle-b"));
  EXPECT_EQ(LeftByCuts(), Cores(24 - 4 * 3));
}

TEST_F(GangRoomTest, CutsAndKeepsNothingWithoutRoomForAll) {
  GangWaits(11);  // n1 has room for 4, and n2 has 6 GPUs
  EXPECT_THAT(Plan(), IsEmpty());
  EXPECT_EQ(memory.gangs.at("team/g").looked_at, state.Snapshot()->version());
}

TEST_F(GangRoomTest, APlaceThatIsNotWrittenEndsAllOthers) {
  GangWaits(8);
  Plan();
  for (size_t i = 0; i < plan.actions.size(); ++i)
    tuner.OnResult(memory, plan.actions[i], i != 3, at);
  EXPECT_THAT(Plan(), Each(StartsWith("end_place m-")));
  EXPECT_THAT(plan.actions, SizeIs(7));
  EXPECT_TRUE(memory.places.empty());
}

TEST_F(GangRoomTest, APeerThatHasChangedMeanwhileEndsAllPlaces) {
  GangWaits(8);
  Plan();
  ResultOfAll(true);
  Reports(ManagedPod("idle-b", "n2", 11, "insensitive"));
  EXPECT_THAT(Plan(), Each(StartsWith("end_place m-")));
  EXPECT_THAT(plan.actions, SizeIs(8));
}

// Tests a gang whose places were reserved, and whose room on that node other pods have taken since.
TEST_F(GangRoomTest, PlacesThatTheGangHoldsAlreadyCountAsItsRoom) {
  Reports(ManagedPod("idle-a", "n2", 2, "insensitive"));
  Reports(ManagedPod("idle-b", "n2", 2, "insensitive"));
  GangWaits(8);
  std::vector<GangPlace> places;
  for (int i = 0; i < 6; ++i) places.push_back({"m-" + std::to_string(i), "n2"});
  ASSERT_TRUE(state.Reserve(places, at.now + seconds(60)));
  Reports(ManagedPod("idle-a", "n2", 12, "insensitive"));
  Reports(ManagedPod("idle-b", "n2", 12, "insensitive"));
  const auto snapshot = state.Snapshot();
  ASSERT_EQ(snapshot->node(*snapshot->Find("n2")).Free().gpus, Gpus(0));
  EXPECT_THAT(Plan(), Each(StartsWith("keep_place m-")));
  EXPECT_THAT(plan.actions, SizeIs(8));
}

TEST_F(GangRoomTest, AMemberThatKubeSchedulerHasNotLookedAtIsWaitedFor) {
  GangWaits(8);
  Pod late = Member(7, 8);
  auto waiting = std::make_shared<Waiting>(*late.waiting);
  waiting->unschedulable = false;
  late.waiting = std::move(waiting);
  Reports(late);
  EXPECT_THAT(Plan(), IsEmpty());
  Reports(Member(7, 8));
  EXPECT_THAT(Plan(), SizeIs(8));
}

TEST_F(GangRoomTest, MembersFirstAskForNoMoreThanTheirFloors) {
  GangWaits(8, 5);
  EXPECT_THAT(Plan(), Each(StartsWith("announce m-")));
  EXPECT_THAT(plan.actions, SizeIs(8));
}

TEST_F(GangRoomTest, RemindsTheSchedulerIfRoomExistsAlready) {
  GangWaits(4);
  EXPECT_THAT(Plan(), IsEmpty());
  After(seconds(2));
  EXPECT_THAT(Plan(), ElementsAre("remind m-0", "remind m-1", "remind m-2", "remind m-3"));
}

// Otherwise other pods would be cut again and again, and the gang would never get room.
TEST_F(GangRoomTest, PlacesAreKeptForAGangThatWaitsForNearerRoom) {
  GangWaits(8);
  PlanAndCarryOut(3);
  const auto with_message = [this](const std::string& message, bool unschedulable) {
    Pod member = *state.FindPod("m-0");
    auto waiting = std::make_shared<Waiting>(*member.waiting);
    waiting->unschedulable = unschedulable;
    waiting->message = message;
    member.waiting = std::move(waiting);
    Reports(member);
  };
  with_message("gang team/g: it waits for room within one node until 2026-01-01T00:00:00Z", false);
  Plan();
  EXPECT_THAT(memory.places, SizeIs(8));
  with_message("it has no volume", true);
  Plan();
  Plan();
  EXPECT_THAT(memory.places, IsEmpty());
}

TEST_F(GangRoomTest, PlacesOfLowerPriorityAreGivenUpWithTheirGang) {
  GangWaits(10);
  PlanAndCarryOut(3);
  Pod single = ManagedPod("urgent", "", 3);
  single.priority = 10;
  Reports(single);
  EXPECT_THAT(Plan(), ElementsAre(StartsWith("end_place m-")));
  EXPECT_THAT(Plan(), SizeIs(9));
  EXPECT_THAT(plan.actions,
              Each(::testing::Field(&TunerAction::what,
                                    ::testing::VariantWith<tuner_action::EndPlace>(::testing::Field(
                                        &tuner_action::EndPlace::end, PlaceEnd::kGivenUp)))));
}

}  // namespace
}  // namespace synergy::testing
