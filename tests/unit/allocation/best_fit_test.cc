// Tests how BestFit ranks single nodes.

#include "allocation/best_fit.h"

#include <gtest/gtest.h>

#include "unit/allocation/allocation_fixture.h"

namespace synergy::testing {
namespace {

const ReserveRule kReserve{.per_gpu = ResourceVector{Gpus(1), Cores(1), GiB(20)}};
const ReserveRule kNoReserve{.per_gpu = ResourceVector{}};

// Returns a pod with one GPU, small requests, and a demand for half a server's CPU.
Pod HungryPod() {
  return Demanding(MakePod("hungry", {Gpus(1), Cores(1), GiB(20)}), Cores(12), GiB(60));
}

class BestFitTest : public AllocationFixture {
 protected:
  FitRank RankOf(const Pod& pod, const std::string& node, const ReserveRule& rule = kReserve) {
    snapshot = state.Snapshot();
    return BestFit(pod, *snapshot, rule).Rank(NodeOf(*snapshot, node));
  }
  FitTier TierOf(const Pod& pod, const std::string& node, const ReserveRule& rule = kReserve) {
    return RankOf(pod, node, rule).tier;
  }
};

TEST_F(BestFitTest, ThereIsRoomWhereTheWholeDemandFitsAndFreeGpusKeepTheirReserve) {
  HaveNode("n1");
  EXPECT_EQ(TierOf(HungryPod(), "n1"), FitTier::kRoom);
}

TEST_F(BestFitTest, ADemandThatLeavesFreeGpusWithoutTheirReserveIsShort) {
  HaveNode("n1");
  Taken("n1", {Gpus(1), Cores(12), GiB(60)});
  EXPECT_EQ(TierOf(HungryPod(), "n1"), FitTier::kShort) << "six GPUs would be left without any CPU";
}

TEST_F(BestFitTest, TheReserveIsKeptInMemoryToo) {
  HaveNode("n1");
  Taken("n1", {Gpus(1), Cores(0), GiB(330)});
  const Pod pod = MakePod("p", {Gpus(1), Cores(1), GiB(51)});
  EXPECT_EQ(TierOf(pod, "n1"), FitTier::kShort) << "six GPUs need 120 GiB, and 119 would be left";
  EXPECT_EQ(TierOf(MakePod("p", {Gpus(1), Cores(1), GiB(50)}), "n1"), FitTier::kRoom);
}

TEST_F(BestFitTest, GpusOfOneNumaNodeArePreferredWherePlacesAreEqualOtherwise) {
  for (const auto& [name, most] : {std::pair("whole", 8), std::pair("halves", 4)}) {
    Node node = MakeNode(name, {Gpus(8), Cores(24), GiB(500)});
    node.gpu_kinds.most_per_numa_node = most;
    state.UpsertNode(node);
  }
  HaveNode("silent");
  const Pod large = MakePod("large", {Gpus(6), Cores(6), GiB(60)});
  EXPECT_LT(RankOf(large, "whole"), RankOf(large, "halves"));
  const Pod small = MakePod("small", {Gpus(4), Cores(4), GiB(40)});
  EXPECT_EQ(RankOf(small, "whole"), RankOf(small, "halves"));
}

TEST_F(BestFitTest, PodThatTakesTheLastGpuLeavesNoReserve) {
  HaveNode("n1");
  Taken("n1", {Gpus(7), Cores(12), GiB(440)});
  EXPECT_EQ(TierOf(HungryPod(), "n1"), FitTier::kRoom);
}

TEST_F(BestFitTest, WithoutAReserveThereIsRoomWhereverTheDemandFits) {
  HaveNode("n1");
  Taken("n1", {Gpus(1), Cores(12), GiB(60)});
  EXPECT_EQ(TierOf(HungryPod(), "n1", kNoReserve), FitTier::kRoom);
}

TEST_F(BestFitTest, TheReserveIsLearnedFromThePodsWhereItIsNotGiven) {
  HaveNode("n1");
  Taken("n1", {Gpus(1), Cores(12), GiB(60)});
  state.UpsertPod(MakePod("waiting", {Gpus(1), Cores(2), GiB(1)}));
  EXPECT_EQ(TierOf(HungryPod(), "n1", ReserveRule{}), FitTier::kShort);
}

TEST_F(BestFitTest, LackCountsOnceForThePodAndOnceForTheReserve) {
  HaveNode("n1");
  Taken("n1", {Gpus(1), Cores(14), GiB(380)});
  // The pod wants 12 cores, of which 6 are reserved and 10 are free, and 60 GiB, of which 120 are
  // reserved and free.
  const FitRank rank = RankOf(HungryPod(), "n1");
  EXPECT_EQ(rank.tier, FitTier::kShort);
  EXPECT_DOUBLE_EQ(rank.cost, 8.0 / 24 + 60.0 / 500);
}

TEST_F(BestFitTest, SmallerLackIsBetter) {
  HaveNode("lacks one core");
  Taken("lacks one core", {Gpus(7), Cores(13), GiB(60)});
  HaveNode("lacks the reserve of four");
  Taken("lacks the reserve of four", {Gpus(3), Cores(12), GiB(60)});
  EXPECT_LT(RankOf(HungryPod(), "lacks one core"),
            RankOf(HungryPod(), "lacks the reserve of four"));
}

TEST_F(BestFitTest, CountsTheRestPerFreeGpuInPartsOfTheLargestNode) {
  HaveNode("n1");
  // 24 - 12 - 7 cores and 500 - 60 - 140 GiB, beside 7 free GPUs and the one that the pod takes.
  EXPECT_DOUBLE_EQ(RankOf(HungryPod(), "n1").cost, (5.0 / 24 + 300.0 / 500) / 8 + 0.25 * 7.0 / 8);
  HaveNode("larger", {Gpus(16), Cores(96), GiB(1000)});
  EXPECT_DOUBLE_EQ(RankOf(HungryPod(), "n1").cost, (5.0 / 96 + 300.0 / 1000) / 8 + 0.25 * 7.0 / 16);
}

TEST_F(BestFitTest, AModestPodGoesWhereGpusAreShortOfCpuRatherThanToAnEmptyNode) {
  HaveNode("empty");
  HaveNode("poor in cpu");
  Taken("poor in cpu", {Gpus(1), Cores(12), GiB(200)});
  const Pod modest = MakePod("modest", {Gpus(1), Cores(1), GiB(20)});
  EXPECT_LT(RankOf(modest, "poor in cpu"), RankOf(modest, "empty"));
}

TEST_F(BestFitTest, RoomBeatsTheLeastShortage) {
  HaveNode("roomy");
  HaveNode("tight");
  Taken("tight", {Gpus(6), Cores(12), GiB(440)});
  EXPECT_LT(RankOf(HungryPod(), "roomy"), RankOf(HungryPod(), "tight"));
}

TEST_F(BestFitTest, APodWithoutADemandIsRankedByItsRequests) {
  HaveNode("n1");
  const Pod pod = MakePod("p", {Gpus(8), Cores(24), GiB(500)});
  const FitRank rank = RankOf(pod, "n1");
  EXPECT_EQ(rank.tier, FitTier::kRoom);
  EXPECT_EQ(rank.cost, 0);
}

TEST_F(BestFitTest, APodWithoutAMemoryRequestFitsWhereMemoryIsOvercommitted) {
  HaveNode("n1");
  Taken("n1", {Gpus(7), Cores(3), GiB(600)});
  const Pod pod = MakePod("p", {Gpus(1), Cores(3), Bytes(0)});
  EXPECT_EQ(TierOf(pod, "n1"), FitTier::kRoom);
}

TEST_F(BestFitTest, AnOvercommittedDimensionCountsAsFullAndNotAsBetterThanFull) {
  HaveNode("full");
  Taken("full", {Gpus(7), Cores(3), GiB(500)});
  HaveNode("overcommitted");
  Taken("overcommitted", {Gpus(7), Cores(3), GiB(900)});
  const Pod pod = MakePod("p", {Gpus(1), Cores(3), Bytes(0)});
  EXPECT_EQ(RankOf(pod, "overcommitted"), RankOf(pod, "full"));
}

TEST_F(BestFitTest, FreeGpusBesideOvercommittedMemoryHaveNoReserve) {
  HaveNode("n1");
  Taken("n1", {Gpus(1), Cores(3), GiB(600)});
  EXPECT_EQ(TierOf(MakePod("p", {Gpus(1), Cores(3), Bytes(0)}), "n1"), FitTier::kShort);
}

TEST_F(BestFitTest, APodWithSlicesGoesWhereFewestUseAGpu) {
  // On one node, two pods have slices of two GPUs, each in four slices; on the next, one pod has
  // one GPU in two slices; on the last, three pods have slices of three of four GPUs.
  state.UpsertNode(MakeSharedNode("quarters", 2, 4, kServer));
  state.UpsertPod(OnNode(MakeSlicePod("a", 1), "quarters"));
  state.UpsertPod(OnNode(MakeSlicePod("b", 1), "quarters"));
  state.UpsertNode(MakeSharedNode("halves", 1, 2, kServer));
  state.UpsertPod(OnNode(MakeSlicePod("c", 1), "halves"));
  state.UpsertNode(MakeSharedNode("emptier", 4, 4, kServer));
  state.UpsertPod(OnNode(MakeSlicePod("d", 3, Cores(12), GiB(300)), "emptier"));
  const Pod pod = MakeSlicePod("new", 1);
  EXPECT_LT(RankOf(pod, "emptier"), RankOf(pod, "quarters"));
  EXPECT_LT(RankOf(pod, "quarters"), RankOf(pod, "halves"));
}

TEST_F(BestFitTest, APodWithSlicesFillsTheFullerOfNodesThatAreSharedAlike) {
  for (const char* name : {"emptier", "fuller"})
    state.UpsertNode(MakeSharedNode(name, 2, 4, kServer));
  Taken("fuller", {Gpus(0), Cores(12), GiB(300)});
  EXPECT_LT(RankOf(MakeSlicePod("new", 1), "fuller"), RankOf(MakeSlicePod("new", 1), "emptier"));
}

}  // namespace
}  // namespace synergy::testing
