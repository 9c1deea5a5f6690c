// Tests nodes that are added, changed and removed while they have pods.

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/cluster/cluster_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class NodeLifeTest : public ClusterStateFixture {};

TEST_F(NodeLifeTest, APodMayBeKnownBeforeItsNode) {
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n1"));
  EXPECT_FALSE(Exists("n1"));
  HaveNode("n1");
  EXPECT_TRUE(Exists("n1"));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
}

TEST_F(NodeLifeTest, AnUnknownNodeOffersNothing) {
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n1"));
  const auto snapshot = state.Snapshot();
  EXPECT_EQ(NodeOf(*snapshot, "n1").allocatable, ResourceVector{});
  EXPECT_FALSE(NodeOf(*snapshot, "n1").Schedulable());
}

TEST_F(NodeLifeTest, ANodeThatLeavesAndComesBackStillHasItsPods) {
  HaveNode("n1");
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n1"));
  state.RemoveNode("n1");
  EXPECT_FALSE(Exists("n1"));
  EXPECT_EQ(NodeOf(*state.Snapshot(), "n1").allocatable, ResourceVector{});
  HaveNode("n1");
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(2));
  EXPECT_EQ(NodeOf(*state.Snapshot(), "n1").allocatable, kServer);
}

TEST_F(NodeLifeTest, AnEmptyNodeThatLeavesIsGoneAltogether) {
  HaveNode("n1");
  state.RemoveNode("n1");
  EXPECT_FALSE(state.Snapshot()->Find("n1").has_value());
}

TEST_F(NodeLifeTest, ANodeThatIsGoneVanishesWithItsLastPod) {
  HaveNode("n1");
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n1"));
  state.RemoveNode("n1");
  state.RemovePod("a");
  EXPECT_FALSE(state.Snapshot()->Find("n1").has_value());
}

TEST_F(NodeLifeTest, RemovingANodeTwiceOrUnknownDoesNothing) {
  HaveNode("n1");
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n1"));
  state.RemoveNode("n1");
  const auto before = state.Snapshot();
  state.RemoveNode("n1");
  state.RemoveNode("n9");
  EXPECT_EQ(state.Snapshot(), before);
}

TEST_F(NodeLifeTest, ThePlaceOfAVanishedNodeIsUsedAgain) {
  HaveNode("n1");
  HaveNode("n2");
  const NodeIndex place = PlaceOf(*state.Snapshot(), "n1");
  state.RemoveNode("n1");
  HaveNode("n3");
  const auto snapshot = state.Snapshot();
  EXPECT_EQ(PlaceOf(*snapshot, "n3"), place);
  EXPECT_EQ(snapshot->size(), 2U);
  EXPECT_EQ(NodeOf(*snapshot, "n3").detail->name, "n3");
  EXPECT_THAT(PodsOn("n3"), IsEmpty());
}

TEST_F(NodeLifeTest, ThePlaceOfANodeWithPodsIsNotUsedAgain) {
  HaveNode("n1");
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n1"));
  state.RemoveNode("n1");
  HaveNode("n2");
  EXPECT_THAT(PodsOn("n1"), ElementsAre("a"));
  EXPECT_THAT(PodsOn("n2"), IsEmpty());
}

TEST_F(NodeLifeTest, AnUnknownNodesPlaceSurvivesAnUpdateOfItsOnlyPod) {
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n1"));
  state.UpsertPod(OnNode(MakeGpuPod("a", 3), "n1"));
  EXPECT_EQ(GpusTakenOn("n1"), Gpus(3));
  EXPECT_EQ(state.Snapshot()->size(), 1U);
}

TEST_F(NodeLifeTest, ANodeThatChangesIsReadAnew) {
  HaveNode("n1");
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n1"));
  state.UpsertNode(Cordoned(MakeNode("n1", {Gpus(4), Cores(12), GiB(100)}, 20)));
  const auto snapshot = state.Snapshot();
  const NodeState& node = NodeOf(*snapshot, "n1");
  EXPECT_EQ(node.allocatable, (ResourceVector{Gpus(4), Cores(12), GiB(100)}));
  EXPECT_EQ(node.pods_allowed, 20);
  EXPECT_TRUE(node.unschedulable);
  EXPECT_EQ(node.requested.gpus, Gpus(2));
}

TEST_F(NodeLifeTest, AnAssumedPodOutlivesItsNode) {
  HaveNode("n1");
  ASSERT_TRUE(Assume(MakeGpuPod("a", 2), "n1"));
  state.RemoveNode("n1");
  EXPECT_EQ(PlacedOn("a"), "n1");
  state.Forget("a");
  EXPECT_FALSE(state.Snapshot()->Find("n1").has_value());
}

TEST_F(NodeLifeTest, ManyNodesComeAndGoWithoutTheStoreGrowing) {
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 100; ++i) HaveNode("r" + std::to_string(round) + "-" + std::to_string(i));
    for (int i = 0; i < 100; ++i)
      state.RemoveNode("r" + std::to_string(round) + "-" + std::to_string(i));
  }
  EXPECT_EQ(state.Snapshot()->size(), 100U);
}

}  // namespace
}  // namespace synergy::testing
