#include <gtest/gtest.h>

#include "cluster/cluster_state.h"
#include "support/cluster_vocabulary.h"

namespace synergy {
namespace {

using synergy::testing::MakeGpuPod;
using synergy::testing::MakeNode;
using synergy::testing::NodeOf;

const WallTime kUntil = WallTime(std::chrono::seconds(1000));

Pod Waits(Pod pod, std::string hold = {}) {
  auto waiting = std::make_shared<Waiting>();
  waiting->hold = std::move(hold);
  waiting->hold_until = kUntil;
  pod.waiting = std::move(waiting);
  return pod;
}

// A place that the tuner keeps for a waiting pod.
class HoldTest : public ::testing::Test {
 protected:
  HoldTest() {
    state.UpsertNode(MakeNode("a", {Gpus(2), Cores(8), GiB(8)}));
    state.UpsertNode(MakeNode("b", {Gpus(2), Cores(8), GiB(8)}));
    state.UpsertPod(Waits(MakeGpuPod("p", 2), "a"));
  }
  Gpus FreeOn(const std::string& node) const { return NodeOf(*state.Snapshot(), node).Free().gpus; }

  ClusterState state;
  const Instant later = Instant(std::chrono::hours(1));
};

TEST_F(HoldTest, CountsWhereThePlaceIsKept) { EXPECT_EQ(FreeOn("a"), Gpus(0)); }

TEST_F(HoldTest, IsNotTakenByAnothersBind) {
  EXPECT_FALSE(state.Assume(MakeGpuPod("q", 1), "a", later).assumed);
  EXPECT_EQ(FreeOn("a"), Gpus(0));
}

TEST_F(HoldTest, MovesWithThePod) {
  state.UpsertPod(Waits(MakeGpuPod("p", 2), "b"));
  EXPECT_EQ(FreeOn("a"), Gpus(2));
  EXPECT_EQ(FreeOn("b"), Gpus(0));
}

TEST_F(HoldTest, EndsWhenThePodSaysSo) {
  state.UpsertPod(Waits(MakeGpuPod("p", 2)));
  EXPECT_EQ(FreeOn("a"), Gpus(2));
}

TEST_F(HoldTest, EndsWithItsTime) {
  state.DropStaleExpectations(Instant{}, kUntil);
  EXPECT_EQ(FreeOn("a"), Gpus(2));
  state.UpsertPod(Waits(MakeGpuPod("p", 2), "a"));
  EXPECT_EQ(FreeOn("a"), Gpus(2));
}

TEST_F(HoldTest, IsThereAgainWhenAnExpectationElsewhereEnds) {
  const auto snapshot = state.Snapshot();
  state.Expect(Waits(MakeGpuPod("p", 2), "a"), *snapshot->Find("b"), Instant{});
  EXPECT_EQ(FreeOn("b"), Gpus(0));
  state.DropStaleExpectations(later, WallTime{});
  EXPECT_EQ(FreeOn("a"), Gpus(0));
  EXPECT_EQ(FreeOn("b"), Gpus(2));
}

TEST_F(HoldTest, GivesWayToThePodItself) {
  EXPECT_TRUE(state.Assume(MakeGpuPod("p", 2), "a", later).assumed);
  EXPECT_EQ(FreeOn("a"), Gpus(0));
  state.Forget("p");
  EXPECT_EQ(FreeOn("a"), Gpus(0));
}

}  // namespace
}  // namespace synergy
