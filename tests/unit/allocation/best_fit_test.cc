// How BestFit ranks single nodes.

#include "allocation/best_fit.h"

#include <gtest/gtest.h>

#include "unit/allocation/allocation_fixture.h"

namespace synergy::testing {
namespace {

const ReserveRule kReserve{.per_gpu = ResourceVector{Gpus(1), Cores(1), GiB(20)}};
const ReserveRule kNoReserve{.per_gpu = ResourceVector{}};

// One GPU, little asked for, half a server's CPU wanted.
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

TEST_F(BestFitTest, TheWholeDemandWithItsReserveIsTheBestTier) {
  HaveNode("n1");
  EXPECT_EQ(TierOf(HungryPod(), "n1"), FitTier::kDemandWithReserve);
}

TEST_F(BestFitTest, ADemandThatLeavesFreeGpusWithoutTheirReserveIsTheSecondTier) {
  HaveNode("n1");
  Taken("n1", {Gpus(1), Cores(12), GiB(60)});
  EXPECT_EQ(TierOf(HungryPod(), "n1"), FitTier::kDemand)
      << "six GPUs would be left without any CPU";
}

TEST_F(BestFitTest, TheReserveIsKeptInMemoryToo) {
  HaveNode("n1");
  Taken("n1", {Gpus(1), Cores(0), GiB(330)});
  const Pod pod = MakePod("p", {Gpus(1), Cores(1), GiB(51)});
  EXPECT_EQ(TierOf(pod, "n1"), FitTier::kDemand) << "six GPUs need 120 GiB, and 119 would be left";
  EXPECT_EQ(TierOf(MakePod("p", {Gpus(1), Cores(1), GiB(50)}), "n1"), FitTier::kDemandWithReserve);
}

TEST_F(BestFitTest, WhoTakesTheLastGpuNeedsToLeaveNothing) {
  HaveNode("n1");
  Taken("n1", {Gpus(7), Cores(12), GiB(440)});
  EXPECT_EQ(TierOf(HungryPod(), "n1"), FitTier::kDemandWithReserve);
}

TEST_F(BestFitTest, WithoutAReserveAnyNodeThatHoldsTheDemandIsOfTheBestTier) {
  HaveNode("n1");
  Taken("n1", {Gpus(1), Cores(12), GiB(60)});
  EXPECT_EQ(TierOf(HungryPod(), "n1", kNoReserve), FitTier::kDemandWithReserve);
}

TEST_F(BestFitTest, TheReserveIsLearnedFromThePodsWhereItIsNotGiven) {
  HaveNode("n1");
  Taken("n1", {Gpus(1), Cores(12), GiB(60)});
  state.UpsertPod(MakePod("waiting", {Gpus(1), Cores(2), GiB(1)}));
  EXPECT_EQ(TierOf(HungryPod(), "n1", ReserveRule{}), FitTier::kDemand);
}

TEST_F(BestFitTest, WhereTheDemandDoesNotFitTheFairShareMay) {
  HaveNode("n1");
  Taken("n1", {Gpus(1), Cores(20), GiB(60)});
  EXPECT_EQ(TierOf(HungryPod(), "n1"), FitTier::kFairShare)
      << "its eighth are 3 of the 4 cores left";
}

TEST_F(BestFitTest, TheFairShareCountsWithoutPodsThatHaveNoGpus) {
  HaveNode("n1");
  Taken("n1", {Gpus(0), Cores(8), GiB(0)});
  Taken("n1", {Gpus(1), Cores(14), GiB(60)});
  // Two cores are left. An eighth of 24 would not fit, an eighth of the 16 that GPU pods share
  // does.
  EXPECT_EQ(TierOf(HungryPod(), "n1"), FitTier::kFairShare);
}

TEST_F(BestFitTest, WhereNotEvenTheFairShareFitsThePodGetsWhatItAsksFor) {
  HaveNode("n1");
  Taken("n1", {Gpus(1), Cores(22), GiB(60)});
  EXPECT_EQ(TierOf(HungryPod(), "n1"), FitTier::kRequests);
}

TEST_F(BestFitTest, TheFairShareIsNotMoreThanTheDemand) {
  HaveNode("n1");
  Taken("n1", {Gpus(1), Cores(22), GiB(60)});
  const Pod modest = Demanding(MakePod("modest", {Gpus(1), Cores(1), GiB(1)}), Cores(2), GiB(600));
  EXPECT_EQ(TierOf(modest, "n1"), FitTier::kFairShare)
      << "only memory is short; two cores are all it wants";
}

TEST_F(BestFitTest, TheFairShareIsNotLessThanTheRequests) {
  HaveNode("n1");
  Taken("n1", {Gpus(1), Cores(14), GiB(60)});
  const Pod greedy =
      Demanding(MakePod("greedy", {Gpus(1), Cores(10), GiB(60)}), Cores(12), GiB(60));
  const FitRank rank = RankOf(greedy, "n1");
  EXPECT_EQ(rank.tier, FitTier::kFairShare);
  EXPECT_DOUBLE_EQ(rank.leftover, 6.0 / 8 + 0.0 / 24 + (500.0 - 60 - 62.5 + 2.5) / 500);
}

TEST_F(BestFitTest, TheLeftoverIsCountedInPartsOfTheLargestNodePerDimension) {
  HaveNode("n1");
  EXPECT_DOUBLE_EQ(RankOf(HungryPod(), "n1").leftover, 7.0 / 8 + 12.0 / 24 + 440.0 / 500);
  HaveNode("larger", {Gpus(16), Cores(96), GiB(1000)});
  EXPECT_DOUBLE_EQ(RankOf(HungryPod(), "n1").leftover, 7.0 / 16 + 12.0 / 96 + 440.0 / 1000);
}

TEST_F(BestFitTest, AFullerNodeLeavesLess) {
  HaveNode("empty");
  HaveNode("fuller");
  Taken("fuller", {Gpus(4), Cores(4), GiB(100)});
  EXPECT_LT(RankOf(HungryPod(), "fuller"), RankOf(HungryPod(), "empty"));
}

TEST_F(BestFitTest, ABetterTierBeatsASmallerLeftover) {
  HaveNode("roomy");
  HaveNode("tight");
  Taken("tight", {Gpus(6), Cores(22), GiB(440)});
  EXPECT_LT(RankOf(HungryPod(), "roomy"), RankOf(HungryPod(), "tight"));
}

TEST_F(BestFitTest, APodWithoutADemandIsRankedByItsRequests) {
  HaveNode("n1");
  const Pod pod = MakePod("p", {Gpus(8), Cores(24), GiB(500)});
  const FitRank rank = RankOf(pod, "n1");
  EXPECT_EQ(rank.tier, FitTier::kDemandWithReserve);
  EXPECT_EQ(rank.leftover, 0);
}

TEST_F(BestFitTest, APodWithoutAMemoryRequestFitsWhereMemoryIsOvercommitted) {
  HaveNode("n1");
  Taken("n1", {Gpus(7), Cores(3), GiB(600)});
  const Pod pod = MakePod("p", {Gpus(1), Cores(3), Bytes(0)});
  EXPECT_EQ(TierOf(pod, "n1"), FitTier::kDemandWithReserve);
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
  EXPECT_EQ(TierOf(MakePod("p", {Gpus(1), Cores(3), Bytes(0)}), "n1"), FitTier::kDemand);
}

}  // namespace
}  // namespace synergy::testing
