// Tests a snapshot's totals of the cluster: the largest node, the least per GPU, the waiting pods.

#include <gtest/gtest.h>

#include "unit/cluster/cluster_fixture.h"

namespace synergy::testing {
namespace {

class TotalsTest : public ClusterStateFixture {
 protected:
  ResourceVector LeastPerGpu() const { return state.Snapshot()->least_per_gpu(); }
  size_t Waiting() const { return state.Snapshot()->waiting_gpu_pods(); }
};

TEST_F(TotalsTest, TheLargestNodeIsTakenPerDimension) {
  state.UpsertNode(MakeNode("gpus", {Gpus(8), Cores(16), GiB(100)}));
  state.UpsertNode(MakeNode("memory", {Gpus(2), Cores(64), GiB(900)}));
  EXPECT_EQ(state.Snapshot()->largest_node(), (ResourceVector{Gpus(8), Cores(64), GiB(900)}));
}

TEST_F(TotalsTest, TheLargestNodeShrinksWhenThatNodeLeavesOrShrinks) {
  state.UpsertNode(MakeNode("small", {Gpus(2), Cores(8), GiB(50)}));
  state.UpsertNode(MakeNode("large", {Gpus(8), Cores(64), GiB(900)}));
  state.UpsertNode(MakeNode("large", {Gpus(4), Cores(64), GiB(900)}));
  EXPECT_EQ(state.Snapshot()->largest_node().gpus, Gpus(4));
  state.RemoveNode("large");
  EXPECT_EQ(state.Snapshot()->largest_node(), (ResourceVector{Gpus(2), Cores(8), GiB(50)}));
}

TEST_F(TotalsTest, ADimensionThatNoNodeHasCountsInUnitsOfOne) {
  state.UpsertNode(MakeNode("cpu only", {Gpus(0), Cores(8), GiB(50)}));
  EXPECT_EQ(state.Snapshot()->largest_node().gpus, Gpus(1));
}

TEST_F(TotalsTest, TheLeastPerGpuIsTakenPerDimensionOverWaitingAndPlacedPods) {
  HaveNode("n1");
  state.UpsertPod(MakePod("lean on cpu", {Gpus(4), Cores(4), GiB(200)}));
  state.UpsertPod(OnNode(MakePod("lean on memory", {Gpus(2), Cores(6), GiB(20)}), "n1"));
  EXPECT_EQ(LeastPerGpu(), (ResourceVector{Gpus(1), Cores(1), GiB(10)}));
}

TEST_F(TotalsTest, PodsWithoutGpusHaveNoPartInTheLeastPerGpu) {
  state.UpsertPod(MakePod("web", {Gpus(0), MilliCpu(1), Bytes(1)}));
  EXPECT_EQ(LeastPerGpu(), ResourceVector{});
}

TEST_F(TotalsTest, PodWithoutRequestsDoesNotLowerTheLeastPerGpu) {
  state.UpsertPod(MakePod("best effort", {Gpus(1), Cores(0), Bytes(0)}));
  EXPECT_EQ(LeastPerGpu(), (ResourceVector{Gpus(1), Cores(0), Bytes(0)}));
  state.UpsertPod(MakePod("with cpu", {Gpus(2), Cores(6), Bytes(0)}));
  state.UpsertPod(MakePod("with both", {Gpus(1), Cores(8), GiB(20)}));
  EXPECT_EQ(LeastPerGpu(), (ResourceVector{Gpus(1), Cores(3), GiB(20)}));
  state.RemovePod("best effort");
  state.RemovePod("with cpu");
  EXPECT_EQ(LeastPerGpu(), (ResourceVector{Gpus(1), Cores(8), GiB(20)}));
}

TEST_F(TotalsTest, ManagedPodsDetermineTheLeastPerGpu) {
  state.UpsertPod(MakePod("of others", {Gpus(1), MilliCpu(10), MiB(10)}));
  Pod ours = MakePod("ours", {Gpus(1), Cores(3), GiB(30)});
  ours.fungible = std::make_shared<const ManagedContainer>();
  state.UpsertPod(ours);
  EXPECT_EQ(LeastPerGpu(), (ResourceVector{Gpus(1), Cores(3), GiB(30)}));
  state.RemovePod("ours");
  EXPECT_EQ(LeastPerGpu(), (ResourceVector{Gpus(1), MilliCpu(10), MiB(10)}));
}

TEST_F(TotalsTest, TheLeastPerGpuForgetsPodsThatLeaveOrChange) {
  state.UpsertPod(MakePod("large", {Gpus(1), Cores(6), GiB(60)}));
  state.UpsertPod(MakePod("small", {Gpus(1), Cores(2), GiB(20)}));
  state.UpsertPod(MakePod("small", {Gpus(1), Cores(3), GiB(30)}));
  EXPECT_EQ(LeastPerGpu(), (ResourceVector{Gpus(1), Cores(3), GiB(30)}));
  state.RemovePod("small");
  EXPECT_EQ(LeastPerGpu(), (ResourceVector{Gpus(1), Cores(6), GiB(60)}));
  state.RemovePod("large");
  EXPECT_EQ(LeastPerGpu(), ResourceVector{});
}

TEST_F(TotalsTest, TwoPodsThatAskForTheSameAreBothCounted) {
  state.UpsertPod(MakeGpuPod("a", 1));
  state.UpsertPod(MakeGpuPod("b", 1));
  state.RemovePod("a");
  EXPECT_EQ(LeastPerGpu(), (ResourceVector{Gpus(1), Cores(1), GiB(1)}));
}

TEST_F(TotalsTest, OnlyGpuPodsWithoutAPlaceWait) {
  HaveNode("n1");
  state.UpsertPod(MakeGpuPod("waiting", 1));
  state.UpsertPod(MakePod("web", {Gpus(0), Cores(1), GiB(1)}));
  state.UpsertPod(OnNode(MakeGpuPod("bound", 1), "n1"));
  EXPECT_EQ(Waiting(), 1U);
  ASSERT_TRUE(Assume(MakeGpuPod("waiting", 1), "n1"));
  EXPECT_EQ(Waiting(), 0U);
  state.Forget("waiting");
  EXPECT_EQ(Waiting(), 1U);
  Expect(MakeGpuPod("waiting", 1), "n1");
  EXPECT_EQ(Waiting(), 0U);
  state.RemovePod("waiting");
  EXPECT_EQ(Waiting(), 0U);
}

TEST_F(TotalsTest, AGatedOrLeavingPodDoesNotWaitForGpus) {
  Pod gated = MakeGpuPod("gated", 1);
  gated.gated = true;
  Pod leaving = MakeGpuPod("leaving", 1);
  leaving.deleting = true;
  state.UpsertPod(gated);
  state.UpsertPod(leaving);
  EXPECT_EQ(Waiting(), 0U);
  EXPECT_EQ(LeastPerGpu(), ResourceVector{});
}

TEST_F(TotalsTest, PodWaitsOnceItsGateIsLifted) {
  Pod pod = MakeGpuPod("a", 1);
  pod.gated = true;
  state.UpsertPod(pod);
  pod.gated = false;
  state.UpsertPod(pod);
  EXPECT_EQ(Waiting(), 1U);
  EXPECT_EQ(LeastPerGpu().gpus, Gpus(1));
  state.RemovePod("a");
  EXPECT_EQ(Waiting(), 0U);
}

TEST_F(TotalsTest, ABoundPodThatIsBeingDeletedStillCountsInTheLeastPerGpu) {
  HaveNode("n1");
  Pod pod = OnNode(MakeGpuPod("a", 1), "n1");
  state.UpsertPod(pod);
  pod.deleting = true;
  state.UpsertPod(pod);
  EXPECT_EQ(LeastPerGpu().gpus, Gpus(1));
  state.RemovePod("a");
  EXPECT_EQ(LeastPerGpu(), ResourceVector{});
}

}  // namespace
}  // namespace synergy::testing
