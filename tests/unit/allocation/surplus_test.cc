#include "allocation/surplus.h"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/managed_container.h"

namespace synergy {
namespace {

// Returns a profile that is twice as fast with twice the cores, up to 8. Memory beyond 1 GiB does
// not matter.
const JobProfile& Sensitive() {
  static const JobProfile profile = *JobProfile::Create(
      Gpus(1), {{Cores(1), GiB(1), 1}, {Cores(4), GiB(1), 4}, {Cores(8), GiB(1), 8}});
  return profile;
}

// Returns a profile for which one core suffices.
const JobProfile& Insensitive() {
  static const JobProfile profile =
      *JobProfile::Create(Gpus(1), {{Cores(1), GiB(1), 5}, {Cores(8), GiB(1), 5.1}});
  return profile;
}

// Returns a profile that is twice as fast with 8 GiB.
const JobProfile& MemoryHungry() {
  static const JobProfile profile = *JobProfile::Create(
      Gpus(1), {{Cores(1), GiB(2), 1}, {Cores(1), GiB(4), 1.5}, {Cores(1), GiB(8), 2}});
  return profile;
}

PodShare MakeShare(const JobProfile& profile, int64_t cores, int64_t memory = 1) {
  PodShare share;
  share.profile = &profile;
  share.current = {Gpus(1), Cores(cores), GiB(memory)};
  share.least = {Gpus(1), Cores(1), GiB(1)};
  share.fair = {Gpus(1), Cores(4), GiB(2)};
  share.most = {Gpus(1), Cores(8), GiB(8)};
  return share;
}

ResourceVector Lacking(MilliCpu cpu, Bytes memory = {}) { return {Gpus(0), cpu, memory}; }

TEST(Reclaim, TakesOnlyTheLackFromThePodThatLosesLeast) {
  const std::vector<PodShare> shares = {MakeShare(Sensitive(), 4), MakeShare(Insensitive(), 4)};
  const auto amounts = Reclaim(shares, Lacking(MilliCpu(2500)));
  ASSERT_TRUE(amounts);
  EXPECT_EQ((*amounts)[0], shares[0].current);
  EXPECT_EQ((*amounts)[1].cpu, MilliCpu(1500));
  EXPECT_EQ((*amounts)[1].memory, shares[1].current.memory);
}

TEST(Reclaim, GoesOnWithTheOthersWhenOneIsAtItsFloor) {
  const std::vector<PodShare> shares = {MakeShare(Sensitive(), 4), MakeShare(Insensitive(), 2)};
  const auto amounts = Reclaim(shares, Lacking(Cores(2)));
  ASSERT_TRUE(amounts);
  EXPECT_EQ((*amounts)[1].cpu, Cores(1));
  EXPECT_EQ((*amounts)[0].cpu, Cores(3));
}

TEST(Reclaim, NeverGoesBelowAFloor) {
  const std::vector<PodShare> shares = {MakeShare(Sensitive(), 4), MakeShare(Insensitive(), 4)};
  EXPECT_TRUE(Reclaim(shares, Lacking(Cores(6))));
  EXPECT_FALSE(Reclaim(shares, Lacking(MilliCpu(6001))));
}

TEST(Reclaim, LeavesPodsThatHaveOnlyTheirLeast) {
  std::vector<PodShare> shares = {MakeShare(Insensitive(), 4), MakeShare(Insensitive(), 4)};
  for (PodShare& share : shares) share.least = share.current;
  EXPECT_FALSE(Reclaim(shares, Lacking(MilliCpu(1))));
}

TEST(Reclaim, TakesFromAPodWithoutAProfileLast) {
  std::vector<PodShare> shares = {MakeShare(Insensitive(), 4), MakeShare(Insensitive(), 4)};
  shares[0].profile = nullptr;
  EXPECT_EQ((*Reclaim(shares, Lacking(Cores(3))))[0], shares[0].current);
  EXPECT_EQ((*Reclaim(shares, Lacking(Cores(4))))[0].cpu, Cores(3));
}

TEST(Reclaim, CutsMemoryOnlyWhereMemoryLacks) {
  const std::vector<PodShare> shares = {MakeShare(Insensitive(), 4, 8)};
  EXPECT_EQ((*Reclaim(shares, Lacking(Cores(1))))[0], (ResourceVector{Gpus(1), Cores(3), GiB(8)}));
  EXPECT_EQ((*Reclaim(shares, Lacking({}, GiB(3))))[0],
            (ResourceVector{Gpus(1), Cores(4), GiB(5)}));
}

TEST(Regrow, GivesSpareAmountsToPodsThatGainFromThem) {
  const std::vector<PodShare> shares = {MakeShare(Sensitive(), 4), MakeShare(Insensitive(), 1)};
  const auto amounts = Regrow(shares, Lacking(Cores(3)));
  EXPECT_EQ(amounts[0].cpu, Cores(7));
  EXPECT_EQ(amounts[1].cpu, Cores(1));
}

TEST(Regrow, WholeCpusStayWhole) {
  std::vector<PodShare> shares = {MakeShare(Sensitive(), 4)};
  shares[0].whole_cpus = true;
  EXPECT_EQ(Regrow(shares, Lacking(MilliCpu(2700)))[0].cpu, Cores(6));
}

TEST(Reclaim, WholeCpusStayWhole) {
  std::vector<PodShare> shares = {MakeShare(Insensitive(), 4)};
  shares[0].whole_cpus = true;
  const auto amounts = Reclaim(shares, Lacking(MilliCpu(1500)));
  ASSERT_TRUE(amounts);
  EXPECT_EQ((*amounts)[0].cpu, Cores(2));
}

TEST(Regrow, MovesSurplusFromPodsThatHaveNoUseForIt) {
  const std::vector<PodShare> shares = {MakeShare(Sensitive(), 4), MakeShare(Insensitive(), 4)};
  const auto amounts = Regrow(shares, {});
  EXPECT_GE(amounts[0].cpu, MilliCpu(6500));
  EXPECT_LE(amounts[0].cpu + amounts[1].cpu, Cores(8));
  EXPECT_GE(amounts[1].cpu, Cores(1));
}

TEST(Regrow, GivesMemoryToo) {
  const std::vector<PodShare> shares = {MakeShare(MemoryHungry(), 1, 4)};
  EXPECT_EQ(Regrow(shares, Lacking({}, GiB(10)))[0].memory, GiB(8));
}

TEST(Regrow, ChangesNothingWhereNothingIsGained) {
  const std::vector<PodShare> shares = {MakeShare(Sensitive(), 8), MakeShare(Insensitive(), 1)};
  EXPECT_EQ(Regrow(shares, {})[0], shares[0].current);
  EXPECT_EQ(Regrow(shares, {})[1], shares[1].current);
  EXPECT_TRUE(Regrow({}, {}).empty());
}

const WallTime kNow = WallTime{} + std::chrono::hours(1);

// Returns a pod of 4 cores and 4 GiB, 1 GiB of it in use, with 3 cores and 2 GiB above its floor.
Pod PodWithSurplus() {
  ManagedContainer fungible;
  fungible.requested = fungible.in_force = fungible.set_aside = {Gpus(1), Cores(4), GiB(4)};
  fungible.floor = {Gpus(1), Cores(1), GiB(2)};
  fungible.reported = true;
  fungible.devices = DeviceReading{DeviceSafety::kSafe, {}};
  fungible.memory_reading = MemoryReading{GiB(1), false, kNow - std::chrono::minutes(1)};
  Pod pod;
  pod.node = "n1";
  pod.requests.main = fungible.requested;
  pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
  return pod;
}

Pod Changed(Pod pod, const std::function<void(ManagedContainer&)>& change) {
  auto fungible = std::make_shared<ManagedContainer>(*pod.fungible);
  change(*fungible);
  pod.fungible = std::move(fungible);
  return pod;
}

const ResourceVector kNothing;

TEST(Surplus, IsWhatIsAboveTheFloorPerDimension) {
  EXPECT_EQ(Surplus(PodWithSurplus(), kNow), (ResourceVector{Gpus(0), Cores(3), GiB(2)}));
  const Pod cut =
      Changed(PodWithSurplus(), [](ManagedContainer& pod) { pod.requested.memory = GiB(1); });
  EXPECT_EQ(Surplus(cut, kNow), (ResourceVector{Gpus(0), Cores(3), Bytes(0)}));
}

TEST(Surplus, IsNothingIfThePodMayNotBeChanged) {
  Pod pod = PodWithSurplus();
  pod.fungible = nullptr;
  EXPECT_EQ(Surplus(pod, kNow), kNothing);
  pod = PodWithSurplus();
  pod.deleting = true;
  EXPECT_EQ(Surplus(pod, kNow), kNothing);
  pod = PodWithSurplus();
  pod.waiting = std::make_shared<const Waiting>();
  EXPECT_EQ(Surplus(pod, kNow), kNothing);
  const Pod by_hand = Changed(PodWithSurplus(), [](ManagedContainer& fungible) {
    fungible.change = {
        ChangeKind::kGrown, {Gpus(1), Cores(1), GiB(4)}, {Gpus(1), Cores(2), GiB(4)}};
  });
  EXPECT_EQ(Surplus(by_hand, kNow), kNothing);
}

TEST(Surplus, IsNothingUntilAPodThatCouldNotBeCutMayBeTriedAgain) {
  const Pod pod = Changed(PodWithSurplus(),
                          [](ManagedContainer& fungible) { fungible.unshrinkable_until = kNow; });
  EXPECT_EQ(Surplus(pod, kNow), kNothing);
  EXPECT_NE(Surplus(pod, kNow + std::chrono::seconds(1)), kNothing);
}

// If init containers request more, that counts as long as the pod exists.
TEST(Surplus, IsWhatTheNodeGetsBack) {
  const auto with_peak = [](MilliCpu cpu, Bytes memory) {
    return Surplus(
        Changed(PodWithSurplus(),
                [&](ManagedContainer& fungible) { fungible.init_peak = {Gpus(0), cpu, memory}; }),
        kNow);
  };
  EXPECT_EQ(with_peak(Cores(1), GiB(1)), (ResourceVector{Gpus(0), Cores(3), GiB(2)}));
  EXPECT_EQ(with_peak(Cores(3), GiB(3)), (ResourceVector{Gpus(0), Cores(1), GiB(1)}));
  EXPECT_EQ(with_peak(Cores(8), GiB(8)), kNothing);
}

Bytes MemorySurplusOf(const Pod& pod) {
  const ResourceVector surplus = Surplus(pod, kNow);
  EXPECT_EQ(surplus.cpu, Cores(3));
  return surplus.memory;
}

TEST(Surplus, MemoryKeepsAMarginAboveWhatIsInUse) {
  const auto in_use = [](Bytes amount) {
    return MemorySurplusOf(Changed(PodWithSurplus(), [amount](ManagedContainer& fungible) {
      fungible.memory_reading->in_use = amount;
    }));
  };
  EXPECT_EQ(in_use(GiB(1)), GiB(2));  // the floor is larger
  EXPECT_EQ(in_use(GiB(3)), GiB(4) - GiB(3) - MemoryMargin(GiB(3)));
  EXPECT_EQ(in_use(GiB(4)), Bytes(0));
  EXPECT_EQ(in_use(GiB(9)), Bytes(0));
  EXPECT_EQ(MemoryMargin(GiB(10)), GiB(1));
  EXPECT_EQ(MemoryMargin(MiB(10)), MiB(32));
}

TEST(Surplus, MemoryNeedsAFreshReading) {
  EXPECT_EQ(
      MemorySurplusOf(Changed(PodWithSurplus(),
                              [](ManagedContainer& fungible) { fungible.memory_reading.reset(); })),
      Bytes(0));
  const auto aged = [](Duration age) {
    return MemorySurplusOf(Changed(PodWithSurplus(), [age](ManagedContainer& fungible) {
      fungible.memory_reading->at = kNow - age;
    }));
  };
  EXPECT_EQ(aged(kReadingIsFresh), GiB(2));
  EXPECT_EQ(aged(kReadingIsFresh + std::chrono::seconds(1)), Bytes(0));
}

TEST(Surplus, MemoryIsNothingOnANodeShortOfMemory) {
  EXPECT_EQ(MemorySurplusOf(Changed(
                PodWithSurplus(),
                [](ManagedContainer& fungible) { fungible.memory_reading->node_short = true; })),
            Bytes(0));
  NodeState node = EmptyNode({});
  EXPECT_EQ(SurplusOn(node, PodWithSurplus(), kNow).memory, GiB(2));
  node.short_of_memory = true;
  EXPECT_EQ(SurplusOn(node, PodWithSurplus(), kNow), (ResourceVector{Gpus(0), Cores(3), Bytes(0)}));
}

TEST(Surplus, OnANodeIsNothingOfAPodThatAResizeMayCostItsGpus) {
  const NodeState node = EmptyNode({});
  const Pod unreported =
      Changed(PodWithSurplus(), [](ManagedContainer& fungible) { fungible.devices.reset(); });
  EXPECT_EQ(SurplusOn(node, unreported, kNow), kNothing);
  Node labelled;
  labelled.labels = {{"synergy.io/devices-safe", "true"}};
  EXPECT_EQ(SurplusOn(EmptyNode(labelled), unreported, kNow), Surplus(unreported, kNow));
}

TEST(Surplus, MemoryIsNothingIfThePodExcludesIt) {
  EXPECT_EQ(
      MemorySurplusOf(Changed(PodWithSurplus(),
                              [](ManagedContainer& fungible) { fungible.memory_let_be = true; })),
      Bytes(0));
}

// The request could only be cut together with the limit, which would take memory from the process.
TEST(Surplus, MemoryIsNothingUnderAStrictLimit) {
  const auto strict = [](std::optional<Bytes> limit) {
    return MemorySurplusOf(Changed(PodWithSurplus(), [limit](ManagedContainer& fungible) {
      fungible.enforcement = Enforcement::kStrict;
      fungible.memory_limit = limit;
    }));
  };
  EXPECT_EQ(strict(GiB(4)), Bytes(0));
  EXPECT_EQ(strict(std::nullopt), GiB(2));
}

// The surplus can be taken when the pod's current change has ended, so no pod is to be evicted
// meanwhile.
TEST(Surplus, CountsWhileAChangeOfThePodIsUnderWay) {
  const Pod pod = Changed(PodWithSurplus(),
                          [](ManagedContainer& fungible) { fungible.in_force.cpu = Cores(5); });
  EXPECT_FALSE(IsSettled(pod));
  EXPECT_EQ(Surplus(pod, kNow).cpu, Cores(3));
  EXPECT_TRUE(IsSettled(PodWithSurplus()));
}

}  // namespace
}  // namespace synergy
