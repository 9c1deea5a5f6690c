#include "cluster/namespace_limits.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "support/cluster_vocabulary.h"

namespace synergy::testing {
namespace {

constexpr ResourceVector kFloor{Gpus(1), Cores(3), GiB(10)};

// Returns a pod at its floor, with a sidecar of one core.
Pod Training(const std::string& name = "train") {
  ManagedContainer fungible;
  fungible.enforcement = Enforcement::kShared;
  fungible.floor = fungible.requested = kFloor;
  Pod pod = MakePod(name, kFloor + ResourceVector{Gpus(0), Cores(1), Bytes(0)});
  pod.fungible = std::make_shared<const ManagedContainer>(fungible);
  return pod;
}

class NamespaceLimitsTest : public ::testing::Test {
 protected:
  void HaveQuota(MilliCpu hard, MilliCpu used) {
    ResourceQuota quota{.uid = "q", .pod_namespace = Training().pod_namespace};
    quota.requests.hard.cpu = hard;
    quota.requests.used.cpu = used;
    limits.Put(quota);
  }
  LimitRange Range() { return {.uid = "l", .pod_namespace = Training().pod_namespace}; }
  AmountBounds Bounds(const ResourceVector& asks = {}) {
    return limits.Bounds(Training().pod_namespace, {Gpus(0), Cores(1), GiB(1)}, asks);
  }
  MilliCpu MostCpu() { return limits.MostFor(Training(), {}).cpu; }

  NamespaceLimits limits;
};

TEST_F(NamespaceLimitsTest, WithoutAnyEverythingGoes) {
  EXPECT_EQ(Bounds().Clamp(kFloor), kFloor);
  EXPECT_GT(MostCpu(), Cores(1000));
  EXPECT_TRUE(limits.empty());
}

TEST_F(NamespaceLimitsTest, TheMostMemoryIsThatOfTheNarrowestRangeAndWholeQuota) {
  const std::string& team = Training().pod_namespace;
  EXPECT_GT(limits.MostMemory(team), GiB(1000));
  ResourceQuota quota{.uid = "q", .pod_namespace = team};
  quota.requests.hard.memory = quota.requests.used.memory = GiB(64);
  limits.Put(quota);
  EXPECT_EQ(limits.MostMemory(team), GiB(64)) << "whatever is used of it";
  quota.limits.hard.memory = GiB(48);
  limits.Put(quota);
  EXPECT_EQ(limits.MostMemory(team), GiB(48));
  LimitRange range = Range();
  range.container.most.memory = GiB(32);
  limits.Put(range);
  EXPECT_EQ(limits.MostMemory(team), GiB(32));
  EXPECT_GT(limits.MostMemory("another"), GiB(1000));
}

TEST_F(NamespaceLimitsTest, TheNarrowestBoundsHold) {
  LimitRange range = Range();
  range.container.least.cpu = Cores(2);
  range.container.most.memory = GiB(8);
  range.pod.most = {Gpus(kNoLimit), Cores(5), GiB(64)};
  limits.Put(range);
  EXPECT_EQ(Bounds().least.cpu, Cores(2));
  EXPECT_EQ(Bounds().most.cpu, Cores(4)) << "the sidecar has one of the pod's five";
  EXPECT_EQ(Bounds().most.memory, GiB(8));
  EXPECT_EQ(MostCpu(), Cores(4));
  limits.RemoveRange("l");
  EXPECT_TRUE(limits.empty());
}

TEST_F(NamespaceLimitsTest, ARatioLetsNothingBeAskedForBelowWhatIsAskedFor) {
  LimitRange range = Range();
  range.cpu_ratio = true;
  limits.Put(range);
  EXPECT_EQ(Bounds(kFloor).least, (ResourceVector{Gpus(0), Cores(3), Bytes(0)}));
}

TEST_F(NamespaceLimitsTest, GrowthLeavesRoomForAnotherPodLikeIt) {
  HaveQuota(Cores(12), Cores(4));
  EXPECT_EQ(MostCpu(), Cores(7)) << "12, less 4 that are used, less 4 that another takes";
  HaveQuota(Cores(12), Cores(9));
  EXPECT_EQ(MostCpu(), kFloor.cpu) << "not less than it has";
}

// A quota may refuse a pod's floor although it has room for it (docs/internals/sizing.md).
TEST_F(NamespaceLimitsTest, RefusedPodTakesItsShareFromTheReservedAmounts) {
  Pod pod = Training();
  auto refused = std::make_shared<ManagedContainer>(*pod.fungible);
  pod.requests.main.cpu -= kFloor.cpu - MilliCpu(1);
  refused->floor.cpu = refused->requested.cpu = MilliCpu(1);
  refused->fair_share = kFloor;
  refused->demand = kFloor + kFloor;
  pod.fungible = refused;
  const auto most_cpu = [&] { return limits.MostFor(pod, {}).cpu; };
  HaveQuota(Cores(12), Cores(9) + MilliCpu(1));
  EXPECT_EQ(most_cpu(), Cores(3));
  HaveQuota(Cores(12), Cores(10) + MilliCpu(1));
  EXPECT_EQ(most_cpu(), Cores(2)) << "what is left";
  HaveQuota(Cores(40), Cores(9) + MilliCpu(1));
  EXPECT_GT(most_cpu(), Cores(3)) << "beyond its share, too, where enough is left";
  HaveQuota(Cores(12), Cores(13));
  EXPECT_EQ(most_cpu(), MilliCpu(1)) << "not less than it has";
}

TEST_F(NamespaceLimitsTest, GrowthLeavesAQuarterOfALargeQuota) {
  HaveQuota(Cores(40), Cores(4));
  EXPECT_EQ(MostCpu(), Cores(3 + 26));
  EXPECT_EQ(limits.MostFor(Training(), {Gpus(0), Cores(20), Bytes(0)}).cpu, Cores(3 + 6))
      << "what others are being given is taken";
  EXPECT_GT(limits.MostFor(Training(), {}).memory, GiB(1000)) << "no quota of it";
}

TEST_F(NamespaceLimitsTest, AQuotaOfLimitsCountsWhereLimitsFollowTheRequests) {
  ResourceQuota quota{.uid = "q", .pod_namespace = Training().pod_namespace};
  quota.limits = {{Gpus(kNoLimit), Cores(12), Bytes(kNoLimit)}, {Gpus(0), Cores(12), Bytes(0)}};
  limits.Put(quota);
  EXPECT_GT(MostCpu(), Cores(1000));
  Pod strict = Training();
  auto fungible = std::make_shared<ManagedContainer>(*strict.fungible);
  fungible->enforcement = Enforcement::kStrict;
  strict.fungible = fungible;
  EXPECT_EQ(limits.MostFor(strict, {}).cpu, kFloor.cpu);
  EXPECT_TRUE(limits.HasQuota(quota.pod_namespace, &ResourceVector::cpu));
  EXPECT_FALSE(limits.HasQuota(quota.pod_namespace, &ResourceVector::memory));
}

TEST_F(NamespaceLimitsTest, QuotaOnOtherResourcesIsNone) {
  EXPECT_FALSE(limits.Put(ResourceQuota{.uid = "q", .pod_namespace = "team"}));
  EXPECT_EQ(limits.quotas(), 0U);
}

TEST(BeingGivenTest, AnAssumedPodCountsWithWhatTheWatchHasNotSeen) {
  ClusterState state;
  state.UpsertNode(MakeNode("n", {Gpus(8), Cores(24), GiB(100)}));
  ResourceQuota quota{.uid = "q", .pod_namespace = Training().pod_namespace};
  quota.requests.hard.cpu = Cores(40);
  state.UpsertResourceQuota(quota);
  Pod pod = Training();
  state.UpsertPod(pod);
  Pod planned = pod;
  planned.requests.main.cpu += Cores(5);
  state.Assume(planned, "n", Instant{});
  EXPECT_EQ(state.Snapshot()->BeingGiven(pod.pod_namespace).cpu, Cores(5));
  state.UpsertPod(planned);
  EXPECT_EQ(state.Snapshot()->BeingGiven(pod.pod_namespace).cpu, MilliCpu(0));
}

}  // namespace
}  // namespace synergy::testing
