#include "allocation/bind_allocation.h"

#include <memory>

#include <gtest/gtest.h>

#include "cluster/state/fit.h"
#include "unit/allocation/allocation_fixture.h"

namespace synergy::testing {
namespace {

class BindAllocationTest : public AllocationFixture {
 protected:
  // Returns a pod with one GPU, 3 cores and 60 GiB at its floor. Its demand is 24 cores.
  static Pod Hungry(const WrittenAmounts& written = {}) {
    ManagedContainer fungible;
    fungible.container = "train";
    fungible.requested = fungible.floor = {Gpus(1), Cores(3), GiB(60)};
    fungible.demand = {Gpus(1), Cores(24), GiB(60)};
    fungible.written = written;
    if (written.IsGuaranteed()) fungible.enforcement = Enforcement::kStrict;
    Pod pod = MakePod("hungry", fungible.requested);
    pod.fungible = std::make_shared<const ManagedContainer>(fungible);
    return pod;
  }
  // Returns the same pod with init containers that request 8 cores in addition to its sidecar's.
  static Pod WithInitContainers() {
    Pod pod = Hungry();
    auto fungible = std::make_shared<ManagedContainer>(*pod.fungible);
    fungible->init_peak = {Gpus(0), Cores(8), Bytes(0)};
    pod.fungible = std::move(fungible);
    pod.requests.main.cpu = MilliCpu(8500);
    return pod;
  }
  MilliCpu Given(const Pod& pod, const ReserveRule& rule) {
    return PlanAtBind(pod, "n1", *state.Snapshot(), rule).fungible->requested.cpu;
  }
};

TEST_F(BindAllocationTest, TheHeadroomStaysFree) {
  HaveNode("n1");
  const ReserveRule rule{.per_gpu = ResourceVector{}, .headroom = {Gpus(0), MilliCpu(500), GiB(1)}};
  EXPECT_EQ(Given(Hungry(), {.per_gpu = ResourceVector{}}), Cores(24));
  EXPECT_EQ(Given(Hungry(), rule), MilliCpu(23500));
}

// If a pod has volumes to bind, its Binding comes some time after kube-scheduler's choice.
TEST_F(BindAllocationTest, PromisesToPodsWithoutGpusCountAsTaken) {
  HaveNode("n1");
  Pod web = MakePod("web", {Gpus(0), Cores(10), GiB(1)});
  auto waiting = std::make_shared<Waiting>();
  waiting->nominated_node = "n1";
  web.waiting = std::move(waiting);
  state.UpsertPod(web);
  EXPECT_EQ(Given(Hungry(), {.per_gpu = ResourceVector{}}), Cores(14));
}

// Without volumes only kube-scheduler knows of the promise: no watch reports it before the Binding.
// The headroom is reserved for such pods.
TEST_F(BindAllocationTest, UnconfirmedPromisesFitIntoTheHeadroomOnly) {
  HaveNode("n1");
  const ReserveRule rule{.per_gpu = ResourceVector{}, .headroom = {Gpus(0), Cores(2), GiB(2)}};
  Pod grown = PlanAtBind(Hungry(), "n1", *state.Snapshot(), rule);
  grown.node = "n1";
  state.UpsertPod(grown);
  const auto fits = [&](int64_t cores) {
    const Pod late = MakePod("late", {Gpus(0), Cores(cores), GiB(1)});
    const auto now = state.Snapshot();
    return CheckFit(late, now->node(*now->Find("n1"))).none();
  };
  EXPECT_TRUE(fits(2));
  EXPECT_FALSE(fits(3)) << "the kubelet refuses whichever comes second";
}

TEST_F(BindAllocationTest, PodGetsItsRequestIfOnlyTheHeadroomIsLeft) {
  HaveNode("n1");
  TakenByOurs("n1", {Gpus(7), MilliCpu(20800), GiB(400)});
  EXPECT_EQ(Given(Hungry(), {.per_gpu = ResourceVector{}, .headroom = {Gpus(0), Cores(1), {}}}),
            Cores(3));
}

TEST_F(BindAllocationTest, WholeCpusStayWhole) {
  HaveNode("n1");
  const WrittenAmounts written{Cores(8), Cores(8), GiB(60), GiB(60)};
  const ReserveRule rule{.per_gpu = ResourceVector{}, .headroom = {Gpus(0), MilliCpu(500), {}}};
  EXPECT_EQ(Given(Hungry(written), rule), Cores(23));
}

// A node counts the larger of the requests of init containers and containers.
TEST_F(BindAllocationTest, MainContainerMayUseTheRequestsOfInitContainers) {
  HaveNode("n1");
  const ReserveRule nothing{.per_gpu = ResourceVector{}};
  TakenByOurs("n1", {Gpus(1), Cores(13), GiB(1)});
  EXPECT_EQ(Given(WithInitContainers(), nothing), MilliCpu(10500));
  EXPECT_EQ(Given(Hungry(), nothing), Cores(11));
  TakenByOurs("n1", {Gpus(1), MilliCpu(2500), GiB(1)});
  EXPECT_EQ(Given(WithInitContainers(), nothing), Cores(8));
}

TEST_F(BindAllocationTest, APodCountsItsInitContainersUntilItHasMoreThanThey) {
  const auto counted = [](int64_t cores) {
    return WithAllocation(WithInitContainers(), {Gpus(1), Cores(cores), GiB(60)}).requests.main.cpu;
  };
  EXPECT_EQ(counted(3), MilliCpu(8500));
  EXPECT_EQ(counted(8), MilliCpu(8500));
  EXPECT_EQ(counted(12), MilliCpu(12500));
}

TEST_F(BindAllocationTest, AQuotaKeepsRoomForPodsToCome) {
  HaveNode("n1");
  ResourceQuota quota{.uid = "q", .pod_namespace = Hungry().pod_namespace};
  quota.requests.hard.cpu = Cores(20);
  quota.requests.used.cpu = Cores(3);
  state.UpsertResourceQuota(quota);
  const ReserveRule rule{.per_gpu = ResourceVector{}};
  EXPECT_EQ(Given(Hungry(), rule), Cores(15));
  quota.requests.used.cpu = MilliCpu(8500);
  state.UpsertResourceQuota(quota);
  EXPECT_EQ(Given(WithInitContainers(), rule), MilliCpu(11000)) << "another one like it counts 8.5";
  const WrittenAmounts written{Cores(8), Cores(8), GiB(60), GiB(60)};
  quota.requests.used.cpu = MilliCpu(3500);
  state.UpsertResourceQuota(quota);
  EXPECT_EQ(Given(Hungry(written), rule), Cores(14)) << "whole CPUs stay whole";
}

}  // namespace
}  // namespace synergy::testing
