// Tests a GPU's share: the fair share, the reserve, and GPUs that would be stranded without it.

#include "allocation/fair_share.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "allocation/best_fit.h"
#include "unit/allocation/allocation_fixture.h"

namespace synergy::testing {
namespace {

TEST(FairShareOfTest, IsThePartOfTheInstalledGpus) {
  EXPECT_EQ(FairShareOf(kServer, Gpus(8), Gpus(2)), (ResourceVector{Gpus(2), Cores(6), GiB(125)}));
  EXPECT_EQ(FairShareOf(kServer, Gpus(4), Gpus(2)), (ResourceVector{Gpus(2), Cores(12), GiB(250)}));
}

TEST(FairShareOfTest, IsNeverMoreThanTheWholeNorLessThanNothing) {
  EXPECT_EQ(FairShareOf({Gpus(8), Cores(24), Bytes(-1)}, Gpus(8), Gpus(16)),
            (ResourceVector{Gpus(16), Cores(24), Bytes(0)}));
}

TEST(FairShareOfTest, IsNothingWhereNoGpuIsInstalled) {
  EXPECT_EQ(FairShareOf(kServer, Gpus(0), Gpus(1)), ResourceVector{});
}

class FairShareTest : public AllocationFixture {};

TEST_F(FairShareTest, IsTheNodesCpuAndMemoryInProportionToTheGpus) {
  HaveNode("n1");
  EXPECT_EQ(FairShare(NodeNamed("n1"), Gpus(1), {}),
            (ResourceVector{Gpus(1), Cores(3), MiB(64000)}));
  EXPECT_EQ(FairShare(NodeNamed("n1"), Gpus(4), {}),
            (ResourceVector{Gpus(4), Cores(12), GiB(250)}));
  EXPECT_EQ(FairShare(NodeNamed("n1"), Gpus(8), {}), kServer);
}

TEST_F(FairShareTest, LeavesOutWhatPodsWithoutGpusTake) {
  HaveNode("n1");
  Taken("n1", {Gpus(0), Cores(8), GiB(100)});
  EXPECT_EQ(FairShare(NodeNamed("n1"), Gpus(4), {}), (ResourceVector{Gpus(4), Cores(8), GiB(200)}));
}

TEST_F(FairShareTest, DoesNotDependOnWhatPodsTakeThatWeSize) {
  HaveNode("n1");
  TakenByOurs("n1", {Gpus(2), Cores(20), GiB(400)});
  EXPECT_EQ(FairShare(NodeNamed("n1"), Gpus(4), {}),
            (ResourceVector{Gpus(4), Cores(12), GiB(250)}));
}

TEST_F(FairShareTest, LeavesOutTheNodesHeadroom) {
  HaveNode("n1");
  EXPECT_EQ(FairShare(NodeNamed("n1"), Gpus(4), {Gpus(0), Cores(2), GiB(20)}),
            (ResourceVector{Gpus(4), Cores(11), GiB(240)}));
}

TEST_F(FairShareTest, IsOfTheGpusThatOthersLeaveWithWhatTheyLeaveBesideThem) {
  HaveNode("n1");
  Taken("n1", {Gpus(4), Cores(4), GiB(400)});
  EXPECT_EQ(FairShare(NodeNamed("n1"), Gpus(2), {}), (ResourceVector{Gpus(2), Cores(10), GiB(50)}));
  EXPECT_EQ(LeastFairShare(*state.Snapshot(), nullptr, Gpus(5), "", {}), std::nullopt);
}

TEST_F(FairShareTest, FullNodeDoesNotLowerTheSharesElsewhere) {
  HaveNode("n1");
  HaveNode("n2");
  Taken("n1", {Gpus(0), Cores(4), GiB(450)});
  EXPECT_EQ(LeastFairShare(*state.Snapshot(), nullptr, Gpus(1), "", {}),
            (ResourceVector{Gpus(1), Cores(3), MiB(64000)}));
  Taken("n2", {Gpus(0), Cores(8), GiB(100)});
  EXPECT_EQ(LeastFairShare(*state.Snapshot(), nullptr, Gpus(1), "", {}),
            (ResourceVector{Gpus(1), Cores(2), GiB(50)}));
}

TEST_F(FairShareTest, UsesTheLeastFullNodesIfAllAreFull) {
  HaveNode("n1");
  HaveNode("n2");
  Taken("n1", {Gpus(0), Cores(20), GiB(0)});
  Taken("n2", {Gpus(0), Cores(16), GiB(0)});
  EXPECT_EQ(LeastFairShare(*state.Snapshot(), nullptr, Gpus(8), "", {})->cpu, Cores(4));
  Taken("n1", {Gpus(0), Cores(3), GiB(0)});
  EXPECT_EQ(LeastFairShare(*state.Snapshot(), nullptr, Gpus(8), "", {})->cpu, Cores(8));
}

TEST_F(FairShareTest, IsNothingWherePodsWithoutGpusTakeMoreThanThereIs) {
  HaveNode("n1", {Gpus(8), Cores(4), GiB(4)});
  Taken("n1", {Gpus(0), Cores(5), GiB(5)});
  EXPECT_EQ(FairShare(NodeNamed("n1"), Gpus(4), {}),
            (ResourceVector{Gpus(4), MilliCpu(0), Bytes(0)}));
}

TEST_F(FairShareTest, IsNeverMoreThanTheWholeNode) {
  HaveNode("n1");
  EXPECT_EQ(FairShare(NodeNamed("n1"), Gpus(16), {}),
            (ResourceVector{Gpus(16), Cores(24), GiB(500)}));
}

TEST_F(FairShareTest, IsNothingOnANodeWithoutGpus) {
  HaveNode("n1", {Gpus(0), Cores(24), GiB(500)});
  EXPECT_EQ(FairShare(NodeNamed("n1"), Gpus(1), {}), ResourceVector{});
}

TEST_F(FairShareTest, StaysTheSameWhileGpusCannotBeHad) {
  for (const Gpus can_be_had : {Gpus(0), Gpus(7), Gpus(8)}) {
    Node node = MakeNode("n1", kServer);
    node.allocatable.main.gpus = can_be_had;
    node.gpu_kinds.installed = Gpus(8);
    state.UpsertNode(node);
    EXPECT_EQ(FairShare(NodeNamed("n1"), Gpus(4), {}),
              (ResourceVector{Gpus(4), Cores(12), GiB(250)}));
  }
}

TEST_F(FairShareTest, IsRoundedDownSoThatTheSharesFitTogether) {
  HaveNode("n1", {Gpus(3), MilliCpu(1000), Bytes(100)});
  EXPECT_EQ(FairShare(NodeNamed("n1"), Gpus(1), {}),
            (ResourceVector{Gpus(1), MilliCpu(333), Bytes(33)}));
}

TEST_F(FairShareTest, DoesNotOverflowOnLargeNodes) {
  HaveNode("n1", {Gpus(1000), MilliCpu(int64_t{1} << 60), Bytes(int64_t{1} << 60)});
  EXPECT_EQ(FairShare(NodeNamed("n1"), Gpus(500), {}).memory, Bytes(int64_t{1} << 59));
}

TEST_F(FairShareTest, TheReserveIsNoMoreThanWhatTheLargestNodeHasPerGpu) {
  HaveNode("n1", {Gpus(8), Cores(24), GiB(500)});
  state.UpsertPod(MakePod("waiting", {Gpus(2), Cores(10), GiB(60)}));
  EXPECT_EQ(ReservePerGpu(*state.Snapshot(), {}), (ResourceVector{Gpus(1), Cores(3), GiB(30)}));
}

TEST_F(FairShareTest, TheReserveIsLearnedFromThePodsUnlessItIsGiven) {
  HaveNode("n1", {Gpus(8), Cores(24), GiB(500)});
  state.UpsertPod(MakePod("waiting", {Gpus(2), Cores(4), GiB(60)}));
  const auto now = state.Snapshot();
  EXPECT_EQ(ReservePerGpu(*now, {}), (ResourceVector{Gpus(1), Cores(2), GiB(30)}));
  const ResourceVector given{Gpus(1), Cores(1), GiB(20)};
  EXPECT_EQ(ReservePerGpu(*now, {.per_gpu = given}), given);
}

struct StrandedCase {
  std::string what;
  ResourceVector taken;
  ResourceVector reserve;
  Gpus stranded;
};

TEST(StrandedGpusTest, CountsFreeGpusThatNoPodCanUse) {
  const ResourceVector reserve{Gpus(1), Cores(1), GiB(20)};
  const StrandedCase cases[] = {
      {"an empty node", {}, reserve, Gpus(0)},
      {"a full node", kServer, reserve, Gpus(0)},
      {"CPU for two of four", {Gpus(4), Cores(22), GiB(0)}, reserve, Gpus(2)},
      {"memory for one of four", {Gpus(4), Cores(0), GiB(461)}, reserve, Gpus(3)},
      {"the scarcer one counts", {Gpus(4), Cores(22), GiB(461)}, reserve, Gpus(3)},
      {"nothing left but GPUs", {Gpus(3), Cores(24), GiB(500)}, reserve, Gpus(5)},
      {"CPU overcommitted", {Gpus(3), Cores(30), GiB(0)}, reserve, Gpus(5)},
      {"GPUs overcommitted", {Gpus(9), Cores(24), GiB(500)}, reserve, Gpus(0)},
      {"nobody needs anything beside a GPU", {Gpus(3), Cores(24), GiB(500)}, {}, Gpus(0)},
      {"nobody needs memory",
       {Gpus(3), Cores(0), GiB(500)},
       {Gpus(1), Cores(1), Bytes(0)},
       Gpus(0)},
  };
  for (const StrandedCase& stranded : cases) {
    NodeState node = EmptyNode(MakeNode("n1", kServer));
    node = WithPod(node, std::make_shared<const Pod>(MakePod("taken", stranded.taken)));
    EXPECT_EQ(StrandedGpus(node, stranded.reserve), stranded.stranded) << stranded.what;
  }
}

constexpr ResourceVector kSharedServer{Gpus(0), Cores(24), GiB(480)};
constexpr GpuAmount SlicesOnly(int64_t slices) { return {Gpus(0), Slices(slices)}; }

TEST_F(FairShareTest, IsTheSlicesPartOfAGpus) {
  HaveNode("whole", {Gpus(8), Cores(24), GiB(480)});
  state.UpsertNode(MakeSharedNode("shared", 8, 3, kSharedServer));
  const ResourceVector of_gpu = FairShare(NodeNamed("whole"), Gpus(1), {});
  EXPECT_EQ(FairShare(NodeNamed("shared"), SlicesOnly(1), {}),
            (ResourceVector{Gpus(0), Cores(1), GiB(20)}));
  const ResourceVector of_all = FairShare(NodeNamed("shared"), SlicesOnly(3), {});
  EXPECT_EQ(of_all.cpu, of_gpu.cpu) << "all slices of a GPU are a GPU, to the digit";
  EXPECT_EQ(of_all.memory, of_gpu.memory);
  EXPECT_EQ(FairShare(NodeNamed("shared"), SlicesOnly(24), {}), kSharedServer);
}

TEST_F(FairShareTest, SharesOfSlicesLeaveOutThoseOfOthersWithTheirAmounts) {
  state.UpsertNode(MakeSharedNode("shared", 2, 4, kSharedServer));
  state.UpsertPod(OnNode(MakeSlicePod("others", 2, Cores(12), GiB(240)), "shared"));
  state.UpsertPod(OnNode(SizedByUs(MakeSlicePod("ours", 3, Cores(9), GiB(100))), "shared"));
  EXPECT_EQ(FairShare(NodeNamed("shared"), SlicesOnly(1), {}),
            (ResourceVector{Gpus(0), Cores(2), GiB(40)}));
}

TEST_F(FairShareTest, CountsTheSlicesOfAGpuThatAPodStillHasAsAWhole) {
  state.UpsertNode(MakeSharedNode("shared", 2, 4, kSharedServer));
  Taken("shared", {Gpus(1), Cores(4), GiB(80)});
  EXPECT_EQ(FairShare(NodeNamed("shared"), SlicesOnly(4), {}),
            (ResourceVector{Gpus(0), Cores(20), GiB(400)}));
  EXPECT_EQ(LeastFairShare(*state.Snapshot(), nullptr, SlicesOnly(4), "", {}),
            (ResourceVector{Gpus(0), Cores(20), GiB(400)}));
}

TEST_F(FairShareTest, ANodeWithGpusOfBothKindsIsDividedIntoPartsOfThem) {
  Node both = MakeSharedNode("both", 2, 4, {Gpus(1), Cores(24), GiB(480)});
  state.UpsertNode(both);
  EXPECT_EQ(FairShare(NodeNamed("both"), Gpus(1), {}),
            (ResourceVector{Gpus(1), Cores(8), GiB(160)}));
  EXPECT_EQ(FairShare(NodeNamed("both"), SlicesOnly(2), {}),
            (ResourceVector{Gpus(0), Cores(4), GiB(80)}));
}

TEST_F(FairShareTest, SharesOfSlicesAreTheLeastOfTheNodesThatOfferThem) {
  HaveNode("whole", {Gpus(8), Cores(8), GiB(8)});
  EXPECT_EQ(LeastFairShare(*state.Snapshot(), nullptr, SlicesOnly(1), "", {}), std::nullopt);
  state.UpsertNode(MakeSharedNode("halves", 2, 2, kSharedServer));
  EXPECT_EQ(LeastFairShare(*state.Snapshot(), nullptr, SlicesOnly(1), "", {})->cpu, Cores(6));
  state.UpsertNode(MakeSharedNode("quarters", 2, 4, kSharedServer));
  EXPECT_EQ(LeastFairShare(*state.Snapshot(), nullptr, SlicesOnly(1), "", {})->cpu, Cores(3));
  EXPECT_EQ(LeastFairShare(*state.Snapshot(), nullptr, SlicesOnly(8), "", {})->cpu, Cores(24))
      << "only one node has as many";
  EXPECT_EQ(LeastFairShare(*state.Snapshot(), nullptr, SlicesOnly(9), "", {}), std::nullopt);
  EXPECT_EQ(LeastFairShare(*state.Snapshot(), nullptr, Gpus(1), "", {})->cpu, Cores(1))
      << "whole GPUs are none of theirs";
}

}  // namespace
}  // namespace synergy::testing
