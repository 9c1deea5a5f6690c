// Tests places that members of a running gang have left, and the pods that get them.

#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "support/cluster_vocabulary.h"

namespace synergy {
namespace {

using testing::MakeGpuPod;
using testing::MakeNode;
using testing::NodeOf;
using testing::OnNode;

class ReplacementsTest : public ::testing::Test {
 protected:
  static constexpr int kSize = 3;
  static constexpr auto kHold = std::chrono::seconds(60);

  ReplacementsTest() {
    state.ReserveForReplacements(kHold, start);
    for (const char* node : {"a", "b"})
      state.UpsertNode(MakeNode(node, {Gpus(2), Cores(8), GiB(8)}));
    state.UpsertPod(OnNode(Member("p"), "a"));
    state.UpsertPod(OnNode(Member("q"), "a"));
    state.UpsertPod(OnNode(Member("r"), "b"));
  }
  static Pod Member(const std::string& name) {
    Pod pod = MakeGpuPod(name, 1);
    pod.gang = std::make_shared<const Gang>(Gang{"team/g", kSize, {}});
    return pod;
  }
  void Leave(const std::string& name, const std::string& node) {
    Pod pod = OnNode(Member(name), node);
    pod.deleting = true;
    state.UpsertPod(pod);
  }
  void End(const std::string& name, bool succeeded) {
    Pod pod = Member(name);
    pod.terminal = true;
    pod.succeeded = succeeded;
    state.UpsertPod(pod);
  }
  Gpus FreeOn(const std::string& node) const { return NodeOf(*state.Snapshot(), node).Free().gpus; }
  bool Fits(const std::string& node) {
    const bool fits = state.Assume(MakeGpuPod("other", 1), node, later).assumed;
    state.RemovePod("other");
    return fits;
  }

  ClusterState state;
  const Instant start = Instant(std::chrono::hours(5));
  const Instant later = start + std::chrono::hours(1);
};

TEST_F(ReplacementsTest, PlaceOfALostMemberIsReserved) {
  state.RemovePod("p");
  EXPECT_EQ(FreeOn("a"), Gpus(0));
  EXPECT_FALSE(Fits("a"));
  ASSERT_EQ(state.Reservations(ReservationKind::kReplacement).size(), 1U);
  const Reservation place = state.Reservations(ReservationKind::kReplacement).front();
  EXPECT_EQ(place.gang, "team/g");
  EXPECT_EQ(place.pod->node, "a");
  EXPECT_EQ(place.until, start + kHold);
  EXPECT_FALSE(place.settled);
  EXPECT_EQ(state.FindPod("p"), nullptr);
  EXPECT_EQ(state.Snapshot()->MembersOnNodes("team/g").size(), 2U) << "it is no longer a member";
}

TEST_F(ReplacementsTest, TheReplacementGetsItByItsHold) {
  state.RemovePod("p");
  state.UpsertPod(Member("p2"));
  EXPECT_EQ(FreeOn("a"), Gpus(0)) << "it waits for its replacement to be placed";
  ASSERT_TRUE(state.Reserve({{"p2", "a"}}, later));
  EXPECT_TRUE(state.Reservations(ReservationKind::kReplacement).empty());
  EXPECT_EQ(FreeOn("a"), Gpus(0));
  EXPECT_TRUE(state.Assume(Member("p2"), "a", later).assumed);
}

TEST_F(ReplacementsTest, AReplacementThatGoesElsewhereGivesItBack) {
  state.RemovePod("p");
  state.UpsertPod(Member("p2"));
  ASSERT_TRUE(state.Reserve({{"p2", "b"}}, later));
  EXPECT_EQ(FreeOn("a"), Gpus(1));
  EXPECT_EQ(FreeOn("b"), Gpus(0));
}

TEST_F(ReplacementsTest, AHoldThatFailsLeavesItVacant) {
  state.RemovePod("p");
  state.UpsertPod(Member("p2"));
  state.UpsertPod(OnNode(MakeGpuPod("single", 1), "b"));
  EXPECT_FALSE(state.Reserve({{"p2", "b"}}, later));
  EXPECT_EQ(state.Reservations(ReservationKind::kReplacement).size(), 1U);
  EXPECT_FALSE(Fits("a"));
}

TEST_F(ReplacementsTest, TakesTheLostPlaceOnTheReplacementsNodeFirst) {
  state.RemovePod("p");
  state.DropStaleExpectations(start + std::chrono::seconds(1), {});
  state.RemovePod("r");
  state.UpsertPod(Member("r2"));
  ASSERT_TRUE(state.Reserve({{"r2", "b"}}, later));
  ASSERT_EQ(state.Reservations(ReservationKind::kReplacement).size(), 1U);
  EXPECT_EQ(state.Reservations(ReservationKind::kReplacement).front().pod->node, "a");
  EXPECT_EQ(FreeOn("b"), Gpus(1));
}

TEST_F(ReplacementsTest, ReplacementBoundElsewhereReleasesThePlace) {
  state.RemovePod("p");
  state.UpsertPod(OnNode(Member("p2"), "b"));
  EXPECT_TRUE(state.Reservations(ReservationKind::kReplacement).empty());
  EXPECT_EQ(FreeOn("a"), Gpus(1));
}

// A program first looks at the time a second after its start.
TEST_F(ReplacementsTest, APlaceThatIsLeftBeforeTheFirstLookIsHeldAsLong) {
  state.RemovePod("p");
  state.DropStaleExpectations(start + std::chrono::seconds(1), {});
  EXPECT_EQ(FreeOn("a"), Gpus(0));
  EXPECT_EQ(state.Reservations(ReservationKind::kReplacement).size(), 1U);
}

TEST_F(ReplacementsTest, ItEndsAtItsTime) {
  state.RemovePod("p");
  state.DropStaleExpectations(start + kHold - std::chrono::seconds(1), {});
  EXPECT_EQ(FreeOn("a"), Gpus(0));
  state.DropStaleExpectations(start + kHold, {});
  EXPECT_EQ(FreeOn("a"), Gpus(1));
  EXPECT_TRUE(state.Reservations(ReservationKind::kReplacement).empty());
}

TEST_F(ReplacementsTest, AGangThatGoesHoldsNothing) {
  Leave("p", "a");
  Leave("q", "a");
  state.RemovePod("p");
  EXPECT_EQ(FreeOn("a"), Gpus(0)) << "one of it stays, as far as is known";
  Leave("r", "b");
  EXPECT_EQ(FreeOn("a"), Gpus(1)) << "q still has its place";
  state.RemovePod("q");
  EXPECT_EQ(FreeOn("a"), Gpus(2));
  EXPECT_TRUE(state.Reservations(ReservationKind::kReplacement).empty());
}

TEST_F(ReplacementsTest, AGangThatIsDeletedAtOnceHoldsNothing) {
  for (const char* name : {"p", "q", "r"}) state.RemovePod(name);
  EXPECT_TRUE(state.Reservations(ReservationKind::kReplacement).empty());
  EXPECT_EQ(FreeOn("a"), Gpus(2));
  EXPECT_EQ(FreeOn("b"), Gpus(2));
}

TEST_F(ReplacementsTest, OneThatHasSucceededHoldsNothingAndOneThatFailedIsSettled) {
  End("p", true);
  EXPECT_EQ(FreeOn("a"), Gpus(1));
  End("q", false);
  EXPECT_EQ(FreeOn("a"), Gpus(1));
  ASSERT_EQ(state.Reservations(ReservationKind::kReplacement).size(), 1U);
  EXPECT_TRUE(state.Reservations(ReservationKind::kReplacement).front().settled);
}

TEST_F(ReplacementsTest, AskedReplacementIsSettled) {
  state.RemovePod("p");
  state.RemovePod("r");
  state.SettleReplacement("p", true);
  state.SettleReplacement("r", false);
  state.SettleReplacement("unheard of", true);
  ASSERT_EQ(state.Reservations(ReservationKind::kReplacement).size(), 1U);
  EXPECT_TRUE(state.Reservations(ReservationKind::kReplacement).front().settled);
  EXPECT_EQ(FreeOn("b"), Gpus(2));
}

TEST_F(ReplacementsTest, APodThatIsThereAfterAllHasItsPlaceBack) {
  state.RemovePod("p");
  state.UpsertPod(OnNode(Member("p"), "a"));
  EXPECT_TRUE(state.Reservations(ReservationKind::kReplacement).empty());
  EXPECT_EQ(FreeOn("a"), Gpus(0));
}

TEST_F(ReplacementsTest, AReplacementThatCameBeforeThePodLeftIsEnough) {
  Leave("p", "a");
  state.UpsertPod(OnNode(Member("p2"), "b"));
  state.RemovePod("p");
  EXPECT_TRUE(state.Reservations(ReservationKind::kReplacement).empty());
  EXPECT_EQ(FreeOn("a"), Gpus(1));
}

TEST_F(ReplacementsTest, PodsOfNoGangAndThoseThatNeverRanLeaveNothing) {
  state.UpsertPod(OnNode(MakeGpuPod("single", 1), "b"));
  state.RemovePod("single");
  EXPECT_EQ(FreeOn("b"), Gpus(1));
  state.RemovePod("p");
  state.UpsertPod(Member("p2"));
  ASSERT_TRUE(state.Reserve({{"p2", "a"}}, later));
  state.RemovePod("p2");
  EXPECT_EQ(FreeOn("a"), Gpus(1));
}

TEST_F(ReplacementsTest, ANodeThatGoesTakesItAlong) {
  state.RemovePod("r");
  state.RemoveNode("b");
  EXPECT_EQ(state.Reservations(ReservationKind::kReplacement).size(), 1U);
  state.DropStaleExpectations(start + kHold, {});
  EXPECT_EQ(state.Snapshot()->Find("b"), std::nullopt);
}

TEST_F(ReplacementsTest, HoldsNoPlaceUnlessConfigured) {
  state.ReserveForReplacements({}, start);
  state.RemovePod("p");
  EXPECT_EQ(FreeOn("a"), Gpus(1));
}

}  // namespace
}  // namespace synergy
