// Tests the life of a pod's record: waiting, expected, assumed, bound, gone (see the diagram in
// cluster_state.h).

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/state/fit.h"
#include "unit/cluster/cluster_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PodLifeTest : public ClusterStateFixture {
 protected:
  PodLifeTest() {
    HaveNode("n1");
    HaveNode("n2");
  }
};

// The kubelet's topology manager has refused the pod. Otherwise the job's next pod would come to
// the same node.
TEST_F(PodLifeTest, ANodeIsNotTriedAgainForWhatItCouldNotAlign) {
  HaveNode("n1");
  state.DropStaleExpectations(At(0), {});
  const auto fits = [this](int64_t gpus) {
    return CheckFit(MakeGpuPod("next", gpus), NodeOf(*state.Snapshot(), "n1")).none();
  };
  const auto fail = [this](const std::string& name) {
    Pod pod = OnNode(MakeGpuPod(name, 4), "n1");
    state.UpsertPod(pod);
    pod.misaligned = true;
    state.UpsertPod(Finished(pod));
    state.UpsertPod(Finished(pod));
  };
  state.UpsertPod(OnNode(MakeGpuPod("small", 1), "n1"));
  EXPECT_TRUE(fits(4));
  fail("four");
  EXPECT_FALSE(fits(4));
  EXPECT_TRUE(fits(2)) << "of another size";

  // Devices are free again, and may be better aligned.
  state.RemovePod("small");
  EXPECT_TRUE(fits(4));
  // A later report of the same failed pod changes nothing.
  Pod old = OnNode(MakeGpuPod("four", 4), "n1");
  old.misaligned = true;
  state.UpsertPod(Finished(old));
  EXPECT_TRUE(fits(4));

  fail("five");
  state.DropStaleExpectations(At(299), WallTime(std::chrono::seconds(299)));
  EXPECT_FALSE(fits(4));
  state.DropStaleExpectations(At(300), WallTime(std::chrono::seconds(300)));
  EXPECT_TRUE(fits(4));

  fail("six");
  state.RemoveNode("n1");
  HaveNode("n1");
  EXPECT_TRUE(fits(4));
}

TEST_F(PodLifeTest, AWaitingPodTakesNothing) {
  state.UpsertPod(MakeGpuPod("a", 2));
  EXPECT_TRUE(HasPod("a"));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(0));
  EXPECT_EQ(PlacedOn("a"), "nowhere");
}

TEST_F(PodLifeTest, ABoundPodTakesItsShareUntilItIsGone) {
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n1"));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
  state.RemovePod("a");
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(0));
  EXPECT_FALSE(HasPod("a"));
}

TEST_F(PodLifeTest, AFinishedPodGivesItsShareBackAtOnce) {
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n1"));
  state.UpsertPod(Finished(OnNode(MakeGpuPod("a", 2), "n1")));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(0));
  EXPECT_FALSE(HasPod("a"));
}

TEST_F(PodLifeTest, APodThatIsBeingDeletedKeepsItsShareUntilItIsGone) {
  Pod leaving = OnNode(MakeGpuPod("a", 2), "n1");
  leaving.deleting = true;
  state.UpsertPod(leaving);
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
  state.RemovePod("a");
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(0));
}

TEST_F(PodLifeTest, ARunningPodThatIsResizedTakesItsNewShare) {
  state.UpsertPod(OnNode(MakePod("a", {Gpus(1), Cores(2), GiB(10)}), "n1"));
  state.UpsertPod(OnNode(MakePod("a", {Gpus(1), Cores(6), GiB(30)}), "n1"));
  EXPECT_EQ(NodeOf(*state.Snapshot(), "n1").requested,
            (ResourceVector{Gpus(1), Cores(6), GiB(30)}));
  EXPECT_EQ(NodeOf(*state.Snapshot(), "n1").pods, 1);
}

TEST_F(PodLifeTest, AnExpectedPodIsCountedWhereItWillGo) {
  Expect(MakeGpuPod("a", 2), "n1");
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
  EXPECT_EQ(PlacedOn("a"), "n1");
  EXPECT_EQ(state.assumed_pods(), 0U);
}

TEST_F(PodLifeTest, ANewExpectationReplacesTheFormerOne) {
  Expect(MakeGpuPod("a", 2), "n1");
  Expect(MakeGpuPod("a", 2), "n2");
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(0));
  EXPECT_EQ(GpusTakenOn("n2"), Gpus(2));
}

TEST_F(PodLifeTest, AnExpectationEndsAtItsDeadline) {
  Expect(MakeGpuPod("a", 2), "n1", At(3));
  state.DropStaleExpectations(At(2), {});
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
  state.DropStaleExpectations(At(3), {});
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(0));
}

TEST_F(PodLifeTest, StaleExpectationLeavesAWatchedPodWaitingAndDropsOthers) {
  state.UpsertPod(MakeGpuPod("known", 1));
  Expect(MakeGpuPod("known", 1), "n1");
  Expect(MakeGpuPod("unheard of", 1), "n1");
  state.DropStaleExpectations(At(10), {});
  EXPECT_TRUE(HasPod("known"));
  EXPECT_EQ(state.FindPod("known")->node, "");
  EXPECT_FALSE(HasPod("unheard of"));
}

TEST_F(PodLifeTest, NothingIsExpectedOnANodeThatIsGone) {
  const NodeIndex place = PlaceOf(*state.Snapshot(), "n1");
  state.RemoveNode("n1");
  state.Expect(MakeGpuPod("a", 2), place, At(3));
  EXPECT_FALSE(HasPod("a"));
}

TEST_F(PodLifeTest, AnExpectationDoesNotOverrideAnAssumedOrABoundPlace) {
  ASSERT_TRUE(Assume(MakeGpuPod("assumed", 1), "n1"));
  state.UpsertPod(OnNode(MakeGpuPod("bound", 1), "n1"));
  Expect(MakeGpuPod("assumed", 1), "n2");
  Expect(MakeGpuPod("bound", 1), "n2");
  EXPECT_THAT(PodsOn("n1"), ElementsAre("assumed", "bound"));
  EXPECT_THAT(PodsOn("n2"), IsEmpty());
}

TEST_F(PodLifeTest, AnAssumedPodIsCountedAndPlaced) {
  EXPECT_TRUE(Assume(MakeGpuPod("a", 2), "n1"));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
  EXPECT_EQ(PlacedOn("a"), "n1");
  EXPECT_EQ(state.assumed_pods(), 1U);
  EXPECT_EQ(state.FindPod("a")->node, "n1");
}

TEST_F(PodLifeTest, AnExpectedPodIsAssumedWithoutItsOwnShareInTheWay) {
  Expect(MakeGpuPod("a", 8), "n1");
  EXPECT_TRUE(Assume(MakeGpuPod("a", 8), "n1"));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(8));
  EXPECT_EQ(state.assumed_pods(), 1U);
}

TEST_F(PodLifeTest, AssumingAgainElsewhereMovesThePod) {
  ASSERT_TRUE(Assume(MakeGpuPod("a", 8), "n1"));
  EXPECT_TRUE(Assume(MakeGpuPod("a", 8), "n2"));
  EXPECT_THAT(PodsOn("n1"), IsEmpty());
  EXPECT_THAT(PodsOn("n2"), ElementsAre("a"));
  EXPECT_EQ(state.assumed_pods(), 1U);
}

TEST_F(PodLifeTest, AssumingAgainOnTheSameNodeCountsOnce) {
  ASSERT_TRUE(Assume(MakeGpuPod("a", 8), "n1"));
  EXPECT_TRUE(Assume(MakeGpuPod("a", 8), "n1"));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(8));
  EXPECT_EQ(state.assumed_pods(), 1U);
}

TEST_F(PodLifeTest, APodThatDoesNotFitIsNotAssumedAndTheReasonIsGiven) {
  const AssumeOutcome outcome = state.Assume(MakeGpuPod("a", 9), "n1", At(30));
  EXPECT_FALSE(outcome.assumed);
  EXPECT_TRUE(outcome.failures.Has(FitFailures::kGpus));
  EXPECT_FALSE(outcome.bound_to.has_value());
  EXPECT_FALSE(HasPod("a"));
}

TEST_F(PodLifeTest, NoPodIsAssumedOnAnUnknownNode) {
  EXPECT_TRUE(
      state.Assume(MakeGpuPod("a", 1), "n9", At(30)).failures.Has(FitFailures::kUnknownNode));
  state.UpsertPod(OnNode(MakeGpuPod("early", 1), "n9"));
  EXPECT_TRUE(
      state.Assume(MakeGpuPod("a", 1), "n9", At(30)).failures.Has(FitFailures::kUnknownNode));
}

TEST_F(PodLifeTest, AMoveThatDoesNotFitLeavesThePodAssumedWhereItWas) {
  // A Binding to n1 may be under way, so no other pod may get the place.
  ASSERT_TRUE(Assume(MakeGpuPod("a", 8), "n1"));
  state.UpsertPod(OnNode(MakeGpuPod("full", 8), "n2"));
  EXPECT_FALSE(Assume(MakeGpuPod("a", 8), "n2"));
  EXPECT_EQ(PlacedOn("a"), "n1");
  EXPECT_EQ(state.assumed_pods(), 1U);
}

TEST_F(PodLifeTest, ABindElsewhereThatDoesNotFitEndsAnExpectation) {
  Expect(MakeGpuPod("a", 8), "n1");
  state.UpsertPod(OnNode(MakeGpuPod("full", 8), "n2"));
  EXPECT_FALSE(Assume(MakeGpuPod("a", 8), "n2"));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(0));
}

TEST_F(PodLifeTest, AnExpectationGivesWayToABind) {
  // If kube-scheduler still held the place for the other pod, it would not bind this one here.
  state.UpsertPod(MakeGpuPod("promised", 8));
  Expect(MakeGpuPod("promised", 8), "n1");
  EXPECT_TRUE(Assume(MakeGpuPod("a", 8), "n1"));
  EXPECT_THAT(PodsOn("n1"), ElementsAre("a"));
  EXPECT_EQ(PlacedOn("promised"), "nowhere");
  EXPECT_TRUE(HasPod("promised"));
}

TEST_F(PodLifeTest, AnExpectationStaysWhereABindFitsBesideIt) {
  Expect(MakeGpuPod("promised", 4), "n1");
  EXPECT_TRUE(Assume(MakeGpuPod("a", 4), "n1"));
  EXPECT_THAT(PodsOn("n1"), ElementsAre("a", "promised"));
}

TEST_F(PodLifeTest, AnExpectationStaysWhereDroppingItWouldNotHelp) {
  state.UpsertPod(OnNode(MakeGpuPod("bound", 4), "n1"));
  Expect(MakeGpuPod("promised", 4), "n1");
  EXPECT_FALSE(Assume(MakeGpuPod("a", 8), "n1"));
  EXPECT_THAT(PodsOn("n1"), ElementsAre("bound", "promised"));
}

TEST_F(PodLifeTest, AnAssumedPodDoesNotGiveWay) {
  ASSERT_TRUE(Assume(MakeGpuPod("first", 8), "n1"));
  EXPECT_FALSE(Assume(MakeGpuPod("second", 8), "n1"));
  EXPECT_THAT(PodsOn("n1"), ElementsAre("first"));
}

TEST_F(PodLifeTest, AForgottenPodGivesItsPlaceBack) {
  state.UpsertPod(MakeGpuPod("a", 8));
  ASSERT_TRUE(Assume(MakeGpuPod("a", 8), "n1"));
  state.Forget("a");
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(0));
  EXPECT_EQ(state.assumed_pods(), 0U);
  EXPECT_EQ(state.FindPod("a")->node, "");
}

TEST_F(PodLifeTest, ForgettingAPodThatOnlyWeAssumedDropsIt) {
  ASSERT_TRUE(Assume(MakeGpuPod("a", 8), "n1"));
  state.Forget("a");
  EXPECT_FALSE(HasPod("a"));
}

TEST_F(PodLifeTest, ForgettingTakesOnlyAssumedPlacesBack) {
  state.UpsertPod(OnNode(MakeGpuPod("bound", 1), "n1"));
  Expect(MakeGpuPod("expected", 1), "n1");
  for (const std::string pod : {"bound", "expected", "never heard of"}) state.Forget(pod);
  EXPECT_THAT(PodsOn("n1"), ElementsAre("bound", "expected"));
}

TEST_F(PodLifeTest, TheWatchConfirmsAnAssumedPod) {
  ASSERT_TRUE(Assume(MakeGpuPod("a", 2), "n1"));
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n1"));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
  EXPECT_EQ(state.assumed_pods(), 0U);
  EXPECT_EQ(PlacedOn("a"), "nowhere");
}

TEST_F(PodLifeTest, BindingOfTheApiServerOverridesOurAssumption) {
  ASSERT_TRUE(Assume(MakeGpuPod("a", 2), "n1"));
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n2"));
  EXPECT_THAT(PodsOn("n1"), IsEmpty());
  EXPECT_THAT(PodsOn("n2"), ElementsAre("a"));
  EXPECT_EQ(state.assumed_pods(), 0U);
}

TEST_F(PodLifeTest, AStaleWatchEventDoesNotTakeAnAssumedPlaceAway) {
  ASSERT_TRUE(Assume(MakeGpuPod("a", 2), "n1", At(30)));
  state.UpsertPod(Labelled(MakeGpuPod("a", 2), "changed", "yes"));
  EXPECT_EQ(PlacedOn("a"), "n1");
  EXPECT_EQ(state.assumed_pods(), 1U);
  EXPECT_EQ(state.FindPod("a")->labels.size(), 1U) << "what is new about the pod is taken";
  EXPECT_THAT(ExpiredAt(30), ElementsAre("a")) << "the deadline stays";
}

TEST_F(PodLifeTest, AStaleWatchEventDoesNotTakeAnExpectedPlaceAway) {
  Expect(MakeGpuPod("a", 2), "n1", At(3));
  state.UpsertPod(MakeGpuPod("a", 2));
  EXPECT_EQ(PlacedOn("a"), "n1");
  state.DropStaleExpectations(At(3), {});
  EXPECT_EQ(PlacedOn("a"), "nowhere");
}

TEST_F(PodLifeTest, NewsWithoutANodeAboutABoundPodIsOldNews) {
  Pod pod = MakeGpuPod("a", 2);
  pod.resource_version = 7;
  state.UpsertPod(pod);
  Pod answer = OnNode(pod, "n1");
  answer.resource_version = 9;
  state.RefreshPod(answer);
  pod.resource_version = 8;
  state.UpsertPod(pod);
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
}

TEST_F(PodLifeTest, ABoundPodIsNotAssumedAgain) {
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n1"));
  const AssumeOutcome outcome = state.Assume(MakeGpuPod("a", 2), "n2", At(30));
  EXPECT_FALSE(outcome.assumed);
  EXPECT_EQ(outcome.bound_to, "n1");
  EXPECT_THAT(PodsOn("n1"), ElementsAre("a"));
}

TEST_F(PodLifeTest, AnAssumedPodThatIsDeletedOrFinishedGivesItsPlaceBack) {
  ASSERT_TRUE(Assume(MakeGpuPod("deleted", 2), "n1"));
  ASSERT_TRUE(Assume(MakeGpuPod("finished", 2), "n1"));
  state.RemovePod("deleted");
  state.UpsertPod(Finished(MakeGpuPod("finished", 2)));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(0));
  EXPECT_EQ(state.assumed_pods(), 0U);
  EXPECT_EQ(state.known_pods(), 0U);
}

TEST_F(PodLifeTest, RemovingAnUnknownPodDoesNothing) {
  const auto before = state.Snapshot();
  state.RemovePod("never heard of");
  EXPECT_EQ(state.Snapshot(), before);
}

TEST_F(PodLifeTest, ExpiredNamesAssumedPodsPastTheirDeadlineAndOnlyThose) {
  ASSERT_TRUE(Assume(MakeGpuPod("soon", 1), "n1", At(10)));
  ASSERT_TRUE(Assume(MakeGpuPod("later", 1), "n1", At(20)));
  Expect(MakeGpuPod("expected", 1), "n1", At(5));
  EXPECT_THAT(ExpiredAt(9), IsEmpty());
  EXPECT_THAT(ExpiredAt(10), ElementsAre("soon"));
  EXPECT_THAT(ExpiredAt(20), ElementsAre("later", "soon"));
  EXPECT_EQ(state.assumed_pods(), 2U)
      << "they stay assumed until somebody has asked the API server";
}

TEST_F(PodLifeTest, AnExtendedPodExpiresLater) {
  ASSERT_TRUE(Assume(MakeGpuPod("a", 1), "n1", At(10)));
  state.Extend("a", At(50));
  EXPECT_THAT(ExpiredAt(49), IsEmpty());
  EXPECT_THAT(ExpiredAt(50), ElementsAre("a"));
}

TEST_F(PodLifeTest, ExtendingWhatIsNotAssumedDoesNothing) {
  Expect(MakeGpuPod("expected", 1), "n1", At(3));
  state.Extend("expected", At(50));
  state.Extend("never heard of", At(50));
  state.DropStaleExpectations(At(3), {});
  EXPECT_FALSE(HasPod("expected"));
}

TEST_F(PodLifeTest, ADroppedExpectationDoesNotTouchAnAssumedPod) {
  Expect(MakeGpuPod("a", 1), "n1", At(1));
  ASSERT_TRUE(Assume(MakeGpuPod("a", 1), "n1", At(1)));
  state.DropStaleExpectations(At(100), {});
  EXPECT_EQ(PlacedOn("a"), "n1");
}

}  // namespace
}  // namespace synergy::testing
