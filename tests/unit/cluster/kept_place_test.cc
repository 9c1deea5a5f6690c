#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "support/cluster_vocabulary.h"
#include "support/managed_pods.h"

namespace synergy {
namespace {

using synergy::testing::MakeGpuPod;
using synergy::testing::MakeNode;
using synergy::testing::MakePod;
using synergy::testing::ManagedPod;
using synergy::testing::NodeOf;

const WallTime kUntil = WallTime(std::chrono::seconds(1000));

Pod Waits(Pod pod, std::string kept_node = {}) {
  auto waiting = std::make_shared<Waiting>();
  waiting->kept_node = std::move(kept_node);
  waiting->kept_until = kUntil;
  pod.waiting = std::move(waiting);
  return pod;
}

// Tests a place that the tuner keeps for a waiting pod.
class KeptPlaceTest : public ::testing::Test {
 protected:
  KeptPlaceTest() {
    state.UpsertNode(MakeNode("a", {Gpus(2), Cores(8), GiB(8)}));
    state.UpsertNode(MakeNode("b", {Gpus(2), Cores(8), GiB(8)}));
    state.UpsertPod(Waits(MakeGpuPod("p", 2), "a"));
  }
  Gpus FreeOn(const std::string& node) const { return NodeOf(*state.Snapshot(), node).Free().gpus; }

  ClusterState state;
  const Instant later = Instant(std::chrono::hours(1));
};

TEST_F(KeptPlaceTest, CountsWhereThePlaceIsKept) { EXPECT_EQ(FreeOn("a"), Gpus(0)); }

TEST_F(KeptPlaceTest, IsNotTakenByAnothersBind) {
  EXPECT_FALSE(state.Assume(MakeGpuPod("q", 1), "a", later).assumed);
  EXPECT_EQ(FreeOn("a"), Gpus(0));
}

TEST_F(KeptPlaceTest, MovesWithThePod) {
  state.UpsertPod(Waits(MakeGpuPod("p", 2), "b"));
  EXPECT_EQ(FreeOn("a"), Gpus(2));
  EXPECT_EQ(FreeOn("b"), Gpus(0));
}

TEST_F(KeptPlaceTest, EndsWhenThePodStopsWaitingForIt) {
  state.UpsertPod(Waits(MakeGpuPod("p", 2)));
  EXPECT_EQ(FreeOn("a"), Gpus(2));
}

TEST_F(KeptPlaceTest, EndsWithItsTime) {
  state.DropStaleExpectations(Instant{}, kUntil);
  EXPECT_EQ(FreeOn("a"), Gpus(2));
  state.UpsertPod(Waits(MakeGpuPod("p", 2), "a"));
  EXPECT_EQ(FreeOn("a"), Gpus(2));
}

TEST_F(KeptPlaceTest, StaysWhileThePodIsExpectedElsewhere) {
  const auto snapshot = state.Snapshot();
  state.Expect(Waits(MakeGpuPod("p", 2), "a"), *snapshot->Find("b"), later);
  EXPECT_FALSE(state.Assume(MakeGpuPod("q", 1), "a", later).assumed);
  EXPECT_EQ(FreeOn("a"), Gpus(0));
  EXPECT_EQ(FreeOn("b"), Gpus(2));
  EXPECT_TRUE(state.Assume(MakeGpuPod("p", 2), "b", later).assumed);
  EXPECT_EQ(FreeOn("a"), Gpus(2));
}

TEST_F(KeptPlaceTest, GivesWayToThePodItself) {
  EXPECT_TRUE(state.Assume(MakeGpuPod("p", 2), "a", later).assumed);
  EXPECT_EQ(FreeOn("a"), Gpus(0));
  state.Forget("p");
  EXPECT_EQ(FreeOn("a"), Gpus(0));
}

TEST_F(KeptPlaceTest, IsNoneIfThePodIsLargerThanTheNode) {
  for (const ResourceVector& wanted :
       {ResourceVector{Gpus(3), Cores(1), GiB(1)}, ResourceVector{Gpus(1), Cores(10'000), GiB(1)},
        ResourceVector{Gpus(1), Cores(1), GiB(9)}}) {
    state.UpsertPod(Waits(MakePod("p", wanted), "a"));
    EXPECT_EQ(NodeOf(*state.Snapshot(), "a").requested, ResourceVector{});
  }
}

TEST_F(KeptPlaceTest, ExistsAsSoonAsItsNodeDoes) {
  state.UpsertPod(Waits(MakeGpuPod("late", 1), "c"));
  state.UpsertNode(MakeNode("c", {Gpus(2), Cores(8), GiB(8)}));
  EXPECT_EQ(FreeOn("c"), Gpus(1));
  // A pod keeps no place on a node that has lost its GPUs.
  state.UpsertNode(MakeNode("c", {Gpus(0), Cores(8), GiB(8)}));
  EXPECT_EQ(FreeOn("c"), Gpus(0));
}

TEST_F(KeptPlaceTest, NothingChangesWhileNothingElseDoes) {
  const uint64_t version = state.version();
  state.DropStaleExpectations(Instant{}, WallTime{});
  EXPECT_EQ(state.version(), version);
}

// Returns a pod on "b" that has 3 cores and is going to get 2 more.
Pod Growing(MilliCpu to = Cores(5)) {
  Pod pod = ManagedPod("g", "b", 3);
  ManagedContainer fungible = *pod.fungible;
  ChangeRecord change{
      .kind = ChangeKind::kGrown, .from = fungible.requested, .to = fungible.requested};
  change.to.cpu = to;
  fungible.change = change;
  fungible.announced_until = kUntil;
  pod.requests.main += fungible.AnnouncedGrowth();
  pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  return pod;
}

using AnnouncedGrowthTest = KeptPlaceTest;

TEST_F(AnnouncedGrowthTest, CountsUntilItsTimeIsOver) {
  state.UpsertPod(Growing());
  EXPECT_EQ(NodeOf(*state.Snapshot(), "b").requested.cpu, Cores(5));
  state.DropStaleExpectations(Instant{}, kUntil);
  EXPECT_EQ(NodeOf(*state.Snapshot(), "b").requested.cpu, Cores(3));
  state.UpsertPod(Growing());
  EXPECT_EQ(NodeOf(*state.Snapshot(), "b").requested.cpu, Cores(3));
}

TEST_F(AnnouncedGrowthTest, DoesNotCountBeyondTheNode) {
  state.UpsertPod(Growing(Cores(9)));
  EXPECT_EQ(NodeOf(*state.Snapshot(), "b").requested.cpu, Cores(3));
  state.UpsertNode(MakeNode("b", {Gpus(2), Cores(16), GiB(8)}));
  EXPECT_EQ(NodeOf(*state.Snapshot(), "b").requested.cpu, Cores(9));
}

// Returns a pod on "b" that requests `cores` and whose last change is `change`.
Pod InLoan(const std::string& name, int64_t cores, ChangeRecord change) {
  Pod pod = ManagedPod(name, "b", cores);
  ManagedContainer fungible = *pod.fungible;
  change.from.memory = change.to.memory = fungible.requested.memory;
  change.from.gpus = change.to.gpus = fungible.requested.gpus;
  fungible.change = std::move(change);
  fungible.announced_until = kUntil;
  pod.requests.main += fungible.AnnouncedGrowth();
  pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  return pod;
}
ChangeRecord Step(ChangeKind kind, int64_t from, int64_t to, int64_t borrowed = 0) {
  ChangeRecord change{.kind = kind, .borrowed = Cores(borrowed), .borrower = "x"};
  change.from.cpu = Cores(from);
  change.to.cpu = Cores(to);
  return change;
}

using LoanTest = KeptPlaceTest;

TEST_F(LoanTest, TheSameIsFreeAtEachStepOfALoan) {
  const MilliCpu whole = NodeOf(*state.Snapshot(), "b").Free().cpu;
  const auto free = [&](const Pod& lender, const Pod& borrower) {
    state.UpsertPod(lender);
    state.UpsertPod(borrower);
    return NodeOf(*state.Snapshot(), "b").Free().cpu;
  };
  const Pod before = ManagedPod("l", "b", 3);
  const Pod other = ManagedPod("m", "b", 1);
  const MilliCpu left = whole - Cores(4);
  EXPECT_EQ(free(before, other), left);
  EXPECT_EQ(free(InLoan("l", 3, Step(ChangeKind::kLent, 3, 1)), other), left);
  const Pod lends = InLoan("l", 1, Step(ChangeKind::kLent, 3, 1));
  EXPECT_EQ(free(lends, other), left);
  EXPECT_EQ(free(lends, InLoan("m", 1, Step(ChangeKind::kBorrowed, 1, 3, 2))), left);
  EXPECT_EQ(free(lends, InLoan("m", 3, Step(ChangeKind::kBorrowed, 1, 3, 2))), left);
  EXPECT_EQ(free(lends, InLoan("m", 3, Step(ChangeKind::kGivenBack, 3, 1))), left);
  const Pod gave = InLoan("m", 1, Step(ChangeKind::kGivenBack, 3, 1));
  EXPECT_EQ(free(lends, gave), left);
  EXPECT_EQ(free(InLoan("l", 1, Step(ChangeKind::kReturned, 1, 3)), gave), left);
  EXPECT_EQ(free(InLoan("l", 3, Step(ChangeKind::kReturned, 1, 3)), gave), left);
}

}  // namespace
}  // namespace synergy
