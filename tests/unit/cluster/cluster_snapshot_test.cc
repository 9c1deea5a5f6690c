#include "cluster/state/cluster_snapshot.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "unit/cluster/cluster_fixture.h"

namespace synergy::testing {
namespace {

constexpr ResourceVector kServer{Gpus(8), Cores(24), GiB(500)};

std::shared_ptr<const Pod> Shared(Pod pod) { return std::make_shared<const Pod>(std::move(pod)); }

TEST(NodeStateTest, AnEmptyNodeOffersAllItHas) {
  const NodeState node = EmptyNode(MakeNode("n1", kServer, 64));
  EXPECT_EQ(node.Free(), kServer);
  EXPECT_EQ(node.pods_allowed, 64);
  EXPECT_EQ(node.detail->name, "n1");
  EXPECT_TRUE(node.Schedulable());
}

TEST(NodeStateTest, CordonedDeletedAndUnknownNodesTakeNoNewPods) {
  NodeState node = EmptyNode(MakeNode("n1", kServer));
  node.unschedulable = true;
  EXPECT_FALSE(node.Schedulable());
  node = EmptyNode(MakeNode("n1", kServer));
  node.deleting = true;
  EXPECT_FALSE(node.Schedulable());
  EXPECT_FALSE(NodeState{}.Schedulable());
}

TEST(NodeStateTest, APodTakesItsShareAndGivesItBack) {
  const NodeState empty = EmptyNode(MakeNode("n1", kServer));
  const Pod pod = WithOther(MakeGpuPod("a", 2), "example.com/nic", 1);
  const NodeState with = WithPod(empty, Shared(pod));
  EXPECT_EQ(with.requested, pod.requests.main);
  EXPECT_EQ(with.detail->requested, pod.requests.other);
  EXPECT_EQ(with.pods, 1);
  ASSERT_EQ(with.detail->pods.size(), 1U);

  const NodeState without = WithoutPod(with, pod);
  EXPECT_EQ(without.Free(), kServer);
  EXPECT_TRUE(without.detail->requested.empty());
  EXPECT_TRUE(without.detail->pods.empty());
  EXPECT_EQ(without.pods, 0);
}

TEST(NodeStateTest, ThinkingAPodAwayLeavesTheOriginalAlone) {
  const Pod pod = MakeGpuPod("a", 2);
  const NodeState with = WithPod(EmptyNode(MakeNode("n1", kServer)), Shared(pod));
  WithoutPod(with, pod);
  EXPECT_EQ(with.pods, 1);
  EXPECT_EQ(with.detail->pods.size(), 1U);
}

TEST(NodeStateTest, OnlyPodsThatWeDoNotSizeCountAsOthers) {
  NodeState node = EmptyNode(MakeNode("n1", kServer));
  const Pod plain = MakePod("web", {Gpus(0), Cores(2), GiB(3)});
  Pod ours = MakeGpuPod("train", 1);
  ours.fungible = std::make_shared<const ManagedContainer>();
  node = WithPod(WithPod(node, Shared(ours)), Shared(plain));
  EXPECT_EQ(node.of_others, (ResourceVector{Gpus(0), Cores(2), GiB(3)}));
  node = WithPod(WithoutPod(node, plain), Shared(MakeGpuPod("foreign", 1)));
  EXPECT_EQ(node.of_others, (ResourceVector{Gpus(1), Cores(1), GiB(1)}));
}

TEST(NodeStateTest, ANodeThatIsDescribedAnewKeepsItsPods) {
  const NodeState with = WithPod(EmptyNode(MakeNode("n1", kServer)), Shared(MakeGpuPod("a", 2)));
  Node smaller = MakeNode("n1", {Gpus(1), Cores(4), GiB(10)});
  smaller.labels = {{"gpu", "v100"}};
  smaller.allocatable.other.Set("example.com/nic", 3);
  const NodeState described = WithNode(with, smaller);
  EXPECT_EQ(described.requested.gpus, Gpus(2));
  EXPECT_EQ(described.Free().gpus, Gpus(-1));
  EXPECT_EQ(described.detail->pods.size(), 1U);
  EXPECT_EQ(described.detail->labels, smaller.labels);
  EXPECT_EQ(described.detail->allocatable.Get("example.com/nic"), 3);
}

class SnapshotTest : public ClusterStateFixture {};

TEST_F(SnapshotTest, AnEmptyClusterHasNoNodesAndAUnitOfOneInEachDimension) {
  const auto snapshot = state.Snapshot();
  EXPECT_EQ(snapshot->size(), 0U);
  EXPECT_FALSE(snapshot->Find("n1").has_value());
  EXPECT_EQ(snapshot->largest_node(), (ResourceVector{Gpus(1), MilliCpu(1), Bytes(1)}));
  EXPECT_TRUE(snapshot->disruption_budgets().empty());
}

TEST_F(SnapshotTest, IsTheSameObjectUntilSomethingChanges) {
  HaveNode("n1");
  const auto before = state.Snapshot();
  EXPECT_EQ(state.Snapshot(), before);
  EXPECT_EQ(state.Snapshot(), before);
  HaveNode("n2");
  EXPECT_NE(state.Snapshot(), before);
}

TEST_F(SnapshotTest, KeepsWhatItSawWhateverHappensLater) {
  HaveNode("n1");
  HaveNode("n2");
  state.UpsertPod(OnNode(MakeGpuPod("a", 2), "n1"));
  state.UpsertPod(MakeGpuPod("waiting", 1));
  state.UpsertDisruptionBudget({.uid = "budget"});
  const auto before = state.Snapshot();

  ASSERT_TRUE(Assume(MakeGpuPod("b", 6), "n1"));
  state.RemovePod("a");
  state.RemovePod("waiting");
  state.RemoveDisruptionBudget("budget");
  state.RemoveNode("n2");
  HaveNode("n3");
  state.UpsertNode(Cordoned(MakeNode("n1", {Gpus(16), Cores(1), GiB(1)})));

  EXPECT_EQ(NodeOf(*before, "n1").requested.gpus, Gpus(2));
  EXPECT_EQ(NodeOf(*before, "n1").allocatable, kServer);
  EXPECT_EQ(NodeOf(*before, "n1").detail->pods.front()->name, "a");
  EXPECT_TRUE(NodeOf(*before, "n1").Schedulable());
  EXPECT_TRUE(NodeOf(*before, "n2").exists);
  EXPECT_FALSE(before->Find("n3").has_value());
  EXPECT_EQ(before->waiting_gpu_pods(), 1U);
  EXPECT_EQ(before->disruption_budgets().size(), 1U);
  EXPECT_EQ(before->largest_node(), kServer);
}

TEST_F(SnapshotTest, ManyGenerationsEachKeepTheirOwnNames) {
  std::vector<std::shared_ptr<const ClusterSnapshot>> generations;
  for (int i = 0; i < 200; ++i) {
    HaveNode("n" + std::to_string(i));
    generations.push_back(state.Snapshot());
  }
  for (int i = 0; i < 200; ++i) {
    const ClusterSnapshot& snapshot = *generations[static_cast<size_t>(i)];
    EXPECT_EQ(snapshot.size(), static_cast<size_t>(i) + 1);
    EXPECT_TRUE(snapshot.Find("n" + std::to_string(i)).has_value());
    EXPECT_FALSE(snapshot.Find("n" + std::to_string(i + 1)).has_value());
  }
}

}  // namespace
}  // namespace synergy::testing
