#include "allocation/gangs/gang_allocation.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "allocation/bind_allocation.h"
#include "unit/allocation/allocation_fixture.h"

namespace synergy::testing {
namespace {

class GangAllocationTest : public AllocationFixture {
 protected:
  // Returns a pod with one GPU, 3 cores and 60 GiB at its floor. Its demand is 20 cores.
  static Pod Member(const std::string& name, int64_t cores = 3) {
    ManagedContainer fungible;
    fungible.container = "train";
    fungible.floor = {Gpus(1), Cores(3), GiB(60)};
    fungible.requested = {Gpus(1), Cores(cores), GiB(60)};
    fungible.demand = {Gpus(1), Cores(20), GiB(60)};
    Pod pod = MakePod(name, fungible.requested);
    pod.fungible = std::make_shared<const ManagedContainer>(fungible);
    pod.gang = std::make_shared<const Gang>(Gang{"team/g", 2, {}});
    return pod;
  }
  static Pod Waits(Pod pod) {
    pod.waiting = std::make_shared<const Waiting>();
    return pod;
  }
  static Pod On(Pod pod, const std::string& node) {
    pod.node = node;
    return pod;
  }
  void Hold(const std::string& a, const std::string& b) {
    state.UpsertPod(Waits(Member("a")));
    state.UpsertPod(Waits(Member("b")));
    ASSERT_TRUE(state.Reserve({{"a", a}, {"b", b}}, Instant::max()));
  }
  MilliCpu Common() {
    const auto common = AllocationOfGang(*state.Snapshot(), "team/g", kNoReserve);
    return common ? common->cpu : MilliCpu(0);
  }
  MilliCpu Planned(const std::string& name, const std::string& node) {
    const auto now = state.Snapshot();
    return PlanAtBind(*state.FindPod(name), node, *now, kNoReserve,
                      AllocationOfGang(*now, "team/g", kNoReserve))
        .fungible->requested.cpu;
  }

  static inline const ReserveRule kNoReserve{.per_gpu = ResourceVector{}};
};

TEST_F(GangAllocationTest, IsTheSurplusOfTheTightestNode) {
  HaveNode("n1");
  HaveNode("n2");
  state.UpsertPod(On(MakePod("other", {Gpus(1), Cores(14), GiB(60)}), "n2"));
  Hold("n1", "n2");
  EXPECT_EQ(Common(), Cores(10));
  EXPECT_EQ(Planned("a", "n1"), Cores(10));
  EXPECT_EQ(Planned("b", "n2"), Cores(10));
}

TEST_F(GangAllocationTest, IsTheDemandIfAllNodesHaveIt) {
  HaveNode("n1");
  HaveNode("n2");
  Hold("n1", "n2");
  EXPECT_EQ(Common(), Cores(20));
}

TEST_F(GangAllocationTest, MembersOfOneNodeShareWhatItHas) {
  HaveNode("n1");
  Hold("n1", "n1");
  EXPECT_EQ(Common(), Cores(12));
  EXPECT_EQ(Planned("a", "n1"), Cores(12));
}

TEST_F(GangAllocationTest, AReplacementGetsNoMoreThanThoseThatRun) {
  HaveNode("n1");
  HaveNode("n2");
  state.UpsertPod(On(Member("b", 5), "n2"));
  state.UpsertPod(Waits(Member("a")));
  ASSERT_TRUE(state.Reserve({{"a", "n1"}}, Instant::max()));
  EXPECT_EQ(Common(), Cores(5));
}

TEST_F(GangAllocationTest, AQuotaIsSharedByAll) {
  HaveNode("n1");
  HaveNode("n2");
  ResourceQuota quota{.uid = "q", .pod_namespace = Member("a").pod_namespace};
  quota.requests.hard.cpu = Cores(40);
  quota.requests.used.cpu = Cores(20);  // a quarter of what is left stays
  state.UpsertResourceQuota(quota);
  Hold("n1", "n2");
  EXPECT_EQ(Common(), Cores(8));
}

TEST_F(GangAllocationTest, IsNoneForAGangThatMayNotChange) {
  HaveNode("n1");
  Pod pod = Member("a");
  pod.fungible = nullptr;
  state.UpsertPod(Waits(std::move(pod)));
  ASSERT_TRUE(state.Reserve({{"a", "n1"}}, Instant::max()));
  EXPECT_FALSE(AllocationOfGang(*state.Snapshot(), "team/g", kNoReserve));
}

}  // namespace
}  // namespace synergy::testing
