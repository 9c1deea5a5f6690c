#include "engine/tuner/tuner.h"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "unit/engine/tuner_fixture.h"

namespace synergy::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(TunerPlanTest, APlaceIsKeptBeforeItsCutsAreAskedFor) {
  Reports(ManagedPod("idle", "n1", 12, "insensitive"));
  Reports(ManagedPod("new", "", 3));
  EXPECT_THAT(Plan(), ElementsAre("keep_place new"));
  EXPECT_EQ(std::get<tuner_action::KeepPlace>(plan.actions.front().what).node, "n1");
  EXPECT_THAT(Plan(), IsEmpty());  // while its pod may still be kept
  tuner.OnResult(memory, {memory.places.at("new").pod, tuner_action::KeepPlace{}}, true, at);
  EXPECT_THAT(Plan(), ElementsAre("resize idle"));
  EXPECT_EQ(ChangeOf(plan.actions.front()).to.cpu, Cores(9));
}

// The agent's readings of memory go on while the place is written.
TEST_F(TunerPlanTest, APlannedCutThatWouldTakeMemoryInUseIsNotMade) {
  const auto uses = [this](Bytes in_use) {
    return With(ManagedPod("idle", "n1", 3, "insensitive"), [&](ManagedContainer& pod) {
      pod.requested.memory = pod.in_force.memory = pod.set_aside.memory = GiB(64);
      pod.memory_reading = MemoryReading{in_use, false, at.wall};
    });
  };
  const auto reports = [this](Pod pod) {
    pod.requests.main = pod.fungible->requested;
    Reports(std::move(pod));
  };
  reports(uses(GiB(10)));
  Reports(ManagedPod("new", "", 3));
  ASSERT_THAT(Plan(), ElementsAre("keep_place new"));
  reports(uses(GiB(60)));
  ResultOfAll(true);
  EXPECT_THAT(Plan(), ElementsAre("end_place new"));
}

TEST_F(TunerPlanTest, FailedReservationCutsNoPod) {
  Reports(ManagedPod("idle", "n1", 12, "insensitive"));
  Reports(ManagedPod("new", "", 3));
  Plan();
  ResultOfAll(false);
  EXPECT_THAT(Plan(), IsEmpty());
  EXPECT_TRUE(memory.places.empty());
  EXPECT_GT(plan.wake, at.now);
}

TEST_F(TunerPlanTest, ARefusedCutIsWrittenOnThePodAndGivesThePlaceUp) {
  Reports(ManagedPod("idle", "n1", 12, "insensitive"));
  Reports(ManagedPod("new", "", 3));
  Plan();
  ResultOfAll(true);
  Plan();
  ResultOfAll(false);
  EXPECT_THAT(Plan(), ElementsAre("withdraw idle", "end_place new"));
  EXPECT_EQ(std::get<tuner_action::Withdraw>(plan.actions[0].what).unshrinkable_until,
            at.wall + minutes(10));
  EXPECT_EQ(std::get<tuner_action::EndPlace>(plan.actions[1].what).end, PlaceEnd::kGivenUp);
}

TEST_F(TunerPlanTest, TheSameNewsAndTimesGiveTheSameDecisions) {
  TunerMemory other = Tuner::StartOver(at);
  state.KeepNews();
  Reports(ManagedPod("idle", "n1", 12, "insensitive"));
  Reports(ManagedPod("new", "", 3));
  const ClusterNews news = state.TakeNews();
  memory = Tuner::StartOver(at);
  for (TunerMemory* one : {&memory, &other}) {
    for (const PodNews& pod : news.pods) tuner.Observe(*one, pod, at);
  }
  const TunerPlan a = tuner.Plan(*news.snapshot, memory, at);
  const TunerPlan b = tuner.Plan(*news.snapshot, other, at);
  ASSERT_EQ(a.actions.size(), 1u);
  ASSERT_EQ(b.actions.size(), 1u);
  EXPECT_EQ(std::get<tuner_action::KeepPlace>(a.actions[0].what).node,
            std::get<tuner_action::KeepPlace>(b.actions[0].what).node);
  EXPECT_EQ(a.wake, b.wake);
}

Pod WithPlace(Pod pod, const std::string& node, WallTime until) {
  auto waiting = std::make_shared<Waiting>(*pod.waiting);
  waiting->kept_node = node;
  waiting->kept_until = until;
  pod.waiting = std::move(waiting);
  return pod;
}

TEST_F(TunerPlanTest, APlaceThatOthersKeepGetsTheCutsThatItLacks) {
  Reports(ManagedPod("grown", "n1", 10, "insensitive"));
  for (const char* name : {"a", "b", "leaves"}) Reports(ManagedPod(name, "n1", 1, "insensitive"));
  Reports(WithPlace(ManagedPod("new", "", 3), "n1", at.wall + minutes(1)));
  EXPECT_THAT(Plan(), IsEmpty()) << "the GPUs are not free yet";
  state.RemovePod("leaves");
  After(seconds(1));
  EXPECT_THAT(Plan(), ElementsAre("resize grown"));
  EXPECT_EQ(ChangeOf(plan.actions.front()).to.cpu, Cores(7));
  EXPECT_EQ(ChangeOf(plan.actions.front()).why, "room for team/new");
  ResultOfAll(true);
  After(seconds(1));
  EXPECT_THAT(Plan(), Not(Contains(StartsWith("resize"))));
}

TEST_F(TunerPlanTest, APlaceThatOthersKeepOnAnotherNodeGetsNoCutsHere) {
  HaveNode("n2");
  Reports(ManagedPod("grown", "n1", 12, "insensitive"));
  for (const char* name : {"a", "b", "c", "d"}) Reports(ManagedPod(name, "n2", 3));
  Reports(WithPlace(ManagedPod("new", "", 3), "n2", at.wall + minutes(1)));
  EXPECT_THAT(Plan(), IsEmpty());
  After(minutes(1));
  state.DropStaleExpectations(at.now, at.wall);
  EXPECT_THAT(Plan(), ElementsAre("keep_place new")) << "the place has lapsed";
}

TEST_F(TunerPlanTest, APlaceThatOthersHaveTakenOverIsTheirs) {
  Reports(ManagedPod("idle", "n1", 12, "insensitive"));
  Reports(ManagedPod("new", "", 3));
  Plan();
  ResultOfAll(true);
  Reports(WithPlace(ManagedPod("new", "", 3), "n1", at.wall + seconds(90)));
  EXPECT_THAT(Plan(), Not(Contains(StartsWith("end_place"))));
  After(seconds(61));
  EXPECT_THAT(Plan(), Not(Contains(StartsWith("end_place"))));
  EXPECT_TRUE(memory.places.empty());
}

TEST_F(TunerPlanTest, NewLeaderGoesOnWithUnfinishedChangesAndEndsNoPlace) {
  Reports(WithPlace(ManagedPod("new", "", 3), "n1", at.wall + seconds(20)));
  Reports(With(ManagedPod("cut", "n1", 9), [this](ManagedContainer& pod) {
    pod.change = {ChangeKind::kReclaimed, OneGpu(12), OneGpu(9), "", at.wall - seconds(10)};
    pod.in_force = OneGpu(12);
  }));
  memory = Tuner::StartOver(at);
  state.KeepNews();
  Plan();
  ASSERT_TRUE(memory.changes.contains("cut"));
  EXPECT_EQ(memory.changes.at("cut").phase, PodChange::Phase::kMade);
  Reports(WithPlace(ManagedPod("new", "", 3), "n1", at.wall + minutes(1)));
  for (int i = 0; i < 3; ++i) {
    After(seconds(10));
    EXPECT_THAT(Plan(), Not(Contains("end_place new")));
  }
}

TEST_F(TunerPlanTest, PutsNoChangeBackThatTheKubeletHasBegunIfAResizeMayCostTheGpus) {
  for (const DeviceSafety safety : {DeviceSafety::kSafe, DeviceSafety::kUnsafe}) {
    Reports(With(ManagedPod("cut", "n1", 9), [&](ManagedContainer& pod) {
      pod.change = {ChangeKind::kReclaimed, OneGpu(12), OneGpu(9), "", at.wall - seconds(10)};
      pod.in_force = OneGpu(12);
      pod.set_aside = OneGpu(9);
      pod.devices = DeviceReading{safety, ""};
    }));
    memory = Tuner::StartOver(at);
    state.KeepNews();
    std::vector<std::string> planned;
    for (int i = 0; i < 5; ++i) {
      for (const std::string& action : Plan()) planned.push_back(action);
      After(seconds(10));
    }
    EXPECT_EQ(std::count(planned.begin(), planned.end(), "put_back cut") > 0,
              safety == DeviceSafety::kSafe);
  }
}

TEST_F(TunerPlanTest, TriesOneOfWaitingPodsThatAreAlike) {
  for (const char* name : {"a", "b", "c", "d"}) Reports(ManagedPod(name, "n1", 3));
  for (int i = 0; i < 50; ++i) Reports(ManagedPod("new-" + std::to_string(i), "", 3));
  EXPECT_THAT(Plan(), IsEmpty());
  ASSERT_EQ(memory.kinds.size(), 1u);
  EXPECT_EQ(memory.kinds.front().queue.size(), 50u);
  EXPECT_EQ(memory.kinds.front().looked_at, state.Snapshot()->version());
  // Nothing has changed, so the next pass is the next round.
  EXPECT_EQ(plan.wake, memory.next_round);
}

TEST_F(TunerPlanTest, AfterAPodHasLeftKubeSchedulerGoesFirst) {
  Reports(ManagedPod("idle", "n1", 11, "insensitive"));
  Reports(ManagedPod("leaves", "n1", 1, "insensitive"));
  Reports(ManagedPod("new", "", 3));
  state.RemovePod("leaves");
  EXPECT_THAT(Plan(), IsEmpty());
  EXPECT_LE(plan.wake, at.now + seconds(1));
  After(seconds(1));
  EXPECT_THAT(Plan(), ElementsAre("keep_place new"));
}

TEST_F(TunerPlanTest, DecidesOnNodesThatPodsLeaveConstantly) {
  Reports(ManagedPod("idle", "n1", 12, "insensitive"));
  Reports(ManagedPod("new", "", 3));
  std::vector<std::string> decided;
  for (int i = 0; i < 12 && decided.empty(); ++i) {
    const std::string name = "other-" + std::to_string(i);
    Reports(ManagedPod(name, "n2", 1));
    state.RemovePod(name);
    decided = Plan();
    After(milliseconds(100));
  }
  EXPECT_THAT(decided, ElementsAre("keep_place new"));
}

// Preemption has evicted other pods for the pod that is nominated.
TEST_F(TunerPlanTest, NoPodGrowsIntoANominatedPlace) {
  Reports(ManagedPod("busy", "n1", 3));
  Pod nominated = ManagedPod("nominated", "", 6);
  auto waiting = std::make_shared<Waiting>(*nominated.waiting);
  waiting->nominated_node = "n1";
  waiting->unschedulable = false;
  nominated.waiting = std::move(waiting);
  Reports(nominated);
  After(minutes(5));
  EXPECT_THAT(Plan(), ElementsAre("announce busy"));
  EXPECT_EQ(ChangeOf(plan.actions.front()).to.cpu, Cores(6));
}

// After an outage of the API server, a pod may have been bound, or the previous leader may have let
// a pod grow.
TEST_F(TunerPlanTest, AGrowthIsMadeOnlyWhenTheWatchHasBroughtItsAnnouncement) {
  Reports(ManagedPod("busy", "n1", 3));
  After(minutes(5));
  ASSERT_THAT(Plan(), ElementsAre("announce busy"));
  const Pod announced = With(ManagedPod("busy", "n1", 9), [this](ManagedContainer& pod) {
    pod.requested = pod.in_force = pod.set_aside = OneGpu(3);
    pod.change = {ChangeKind::kGrown, OneGpu(3), OneGpu(9), "", {}};
    pod.announced_until = at.wall + minutes(2);
  });
  Answers(announced);
  ResultOfAll(true);
  After(seconds(5));
  EXPECT_THAT(Plan(), IsEmpty());
  Reports(announced);
  EXPECT_THAT(Plan(), ElementsAre("resize busy"));
}

// A bind that the extender sent before the announcement may take as long.
TEST_F(TunerPlanTest, AGrowthWaitsLongerAfterASlowAnnouncement) {
  Reports(ManagedPod("busy", "n1", 3));
  After(minutes(5));
  ASSERT_THAT(Plan(), ElementsAre("announce busy"));
  After(seconds(6));
  Reports(With(ManagedPod("busy", "n1", 9), [this](ManagedContainer& pod) {
    pod.requested = pod.in_force = pod.set_aside = OneGpu(3);
    pod.change = {ChangeKind::kGrown, OneGpu(3), OneGpu(9), "", {}};
    pod.announced_until = at.wall + minutes(2);
  }));
  ResultOfAll(true);
  After(seconds(11));
  EXPECT_THAT(Plan(), IsEmpty());
  After(seconds(1));
  EXPECT_THAT(Plan(), ElementsAre("resize busy"));
}

TEST_F(TunerPlanTest, AGrowthIsWithdrawnWhenAPodIsNominatedMeanwhile) {
  Reports(ManagedPod("busy", "n1", 3));
  After(minutes(5));
  ASSERT_THAT(Plan(), ElementsAre("announce busy"));
  Reports(With(ManagedPod("busy", "n1", 9), [](ManagedContainer& pod) {
    pod.requested = pod.in_force = pod.set_aside = OneGpu(3);
    pod.change = {ChangeKind::kGrown, OneGpu(3), OneGpu(9), "", {}};
  }));
  ResultOfAll(true);
  Pod nominated = ManagedPod("nominated", "", 6);
  auto waiting = std::make_shared<Waiting>(*nominated.waiting);
  waiting->nominated_node = "n1";
  nominated.waiting = std::move(waiting);
  Reports(nominated);
  After(seconds(1));
  EXPECT_THAT(Plan(), ::testing::Contains("withdraw busy"));
}

TEST_F(TunerPlanTest, APodOfWhichAnActionIsUnderWayIsLeftAlone) {
  Reports(ManagedPod("idle", "n1", 9, "insensitive"));
  Reports(ManagedPod("other", "n1", 3, "gone"));
  profiles.generation = 2;  // this is an event
  After(minutes(5));
  Plan();
  ASSERT_FALSE(plan.actions.empty());
  const std::vector<TunerAction> taken = plan.actions;
  Reports(ManagedPod("new", "n1", 0));
  After(minutes(5));
  EXPECT_THAT(Plan(), IsEmpty());
  for (const TunerAction& action : taken) tuner.OnResult(memory, action, true, at);
  EXPECT_FALSE(Plan().empty());
}

TEST_F(TunerPlanTest, NoMoreIsBegunWhileMuchIsAskedFor) {
  for (int i = 0; i < 200; ++i) {
    const std::string node = "more-" + std::to_string(i);
    HaveNode(node);
    Reports(ManagedPod("pod-" + std::to_string(i), node, 3));
  }
  After(minutes(5));
  std::vector<TunerAction> asked;
  while (!Plan().empty()) {
    asked.insert(asked.end(), plan.actions.begin(), plan.actions.end());
  }
  EXPECT_EQ(asked.size(), 64U);
  EXPECT_GT(plan.wake, at.now);  // their results trigger the next pass
  tuner.OnResult(memory, asked.front(), true, at);
  EXPECT_EQ(Plan().size(), 1U);
  // Waiting pods are served nevertheless.
  Reports(ManagedPod("new", "", 12));
  EXPECT_THAT(Plan(), ElementsAre("announce new"));
}

TEST_F(TunerPlanTest, ARoundLeavesNodesAloneThatHaveNotChangedSince) {
  HaveNode("n2");
  Reports(ManagedPod("busy", "n1", 9));
  After(minutes(5));
  EXPECT_THAT(Plan(), IsEmpty());
  const uint64_t divided = memory.divided.at("n1");
  Reports(ManagedPod("other", "n2", 9));
  After(minutes(5));
  Plan();
  EXPECT_TRUE(plan.round);
  EXPECT_EQ(memory.divided.at("n1"), divided);
  EXPECT_GT(memory.divided.at("n2"), divided);
  profiles.generation = 2;  // the basis of the division
  After(minutes(5));
  Plan();
  EXPECT_GT(memory.divided.at("n1"), divided);
}

TEST_F(TunerPlanTest, GrowthOnSeveralNodesLeavesTheQuotaItsHeadroom) {
  HaveNode("n2");
  ResourceQuota quota{.uid = "q", .pod_namespace = ManagedPod("a", "n1", 3).pod_namespace};
  quota.requests.hard.cpu = Cores(16);
  quota.requests.used.cpu = Cores(6);
  state.UpsertResourceQuota(quota);
  Reports(ManagedPod("a", "n1", 3));
  Reports(ManagedPod("b", "n2", 3));
  After(minutes(5));
  // A quarter of 16 stays free. The first pod takes all 6 remaining cores.
  EXPECT_THAT(Plan(), ElementsAre("announce a"));
  EXPECT_EQ(ChangeOf(plan.actions.front()).to.cpu, Cores(9));
  ResultOfAll(false);
  // Only the quota has changed, not the node.
  quota.requests.hard.cpu = Cores(40);
  state.UpsertResourceQuota(quota);
  After(minutes(5));
  EXPECT_THAT(Plan(), ::testing::Contains("announce b"));
}

// A GPU reservation of n1 for job "next", of a GPU and six cores, which waits for "ends".
class ReservedRoomTest : public TunerPlanTest {
 protected:
  void Reserve(Duration starts_in) {
    GpuReservation next;
    next.job = "team/next";
    next.places = {{"n1", Gpus(1), Cores(6), GiB(4)}};
    const Instant start = at.now + starts_in;
    next.starts = {start - minutes(1), start, start + minutes(1)};
    next.waits_for = {"team/ends"};
    tuner.ObserveReservations(memory, {next});
  }
};

TEST_F(ReservedRoomTest, IsMadeShortlyBeforeTheStart) {
  Reports(ManagedPod("ends", "n1", 3, "insensitive"));
  Reports(ManagedPod("stays", "n1", 9));
  Reserve(minutes(20));
  EXPECT_EQ(tuner.ReservationsDue(memory), at.now + minutes(15));
  EXPECT_THAT(Plan(), IsEmpty());
  After(minutes(15) - seconds(1));
  EXPECT_THAT(Plan(), IsEmpty());
  EXPECT_EQ(plan.wake, at.now + seconds(1));
  After(seconds(1));
  EXPECT_THAT(Plan(), ElementsAre("resize stays"));
  EXPECT_EQ(ChangeOf(plan.actions.front()).to.cpu, Cores(6));
  EXPECT_EQ(ChangeOf(plan.actions.front()).why, "room for team/next, which starts soon");
  // It is made once.
  EXPECT_THAT(Plan(), IsEmpty());
  EXPECT_EQ(tuner.ReservationsDue(memory), Instant::max());
}

TEST_F(ReservedRoomTest, StaysFreeUntilTheReservationEnds) {
  Reports(ManagedPod("ends", "n1", 1, "insensitive"));
  Reports(ManagedPod("stays", "n1", 6));
  Reserve(minutes(5));
  EXPECT_THAT(Plan(), IsEmpty());
  After(minutes(6));  // a round later
  EXPECT_THAT(Plan(), IsEmpty());
  tuner.ObserveReservations(memory, {});
  EXPECT_LE(tuner.ReservationsDue(memory), at.now);
  EXPECT_THAT(Plan(), Contains("announce stays"));
}

TEST_F(ReservedRoomTest, IsGivenAwayIfTheStartIsPutOffForTooLong) {
  Reports(ManagedPod("ends", "n1", 1, "insensitive"));
  Reports(ManagedPod("stays", "n1", 6));
  for (int i = 0; i < 6; ++i) {
    Reserve(minutes(1));
    EXPECT_THAT(Plan(), IsEmpty()) << i;
    After(minutes(5));
  }
  Reserve(minutes(1));
  EXPECT_THAT(Plan(), Contains("announce stays"));
}

TEST_F(ReservedRoomTest, IsTriedAgainWhileTheSurplusCannotBeCut) {
  Reports(ManagedPod("ends", "n1", 3));
  const Pod stays = ManagedPod("stays", "n1", 9);
  Reports(With(stays,
               [this](ManagedContainer& pod) { pod.unshrinkable_until = at.wall + seconds(7); }));
  Reserve(minutes(4));
  EXPECT_THAT(Plan(), IsEmpty());
  EXPECT_LE(plan.wake, at.now + seconds(5));
  After(seconds(10));
  EXPECT_THAT(Plan(), ElementsAre("resize stays"));
}

}  // namespace
}  // namespace synergy::testing
