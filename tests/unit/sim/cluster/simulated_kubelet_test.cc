#include "sim/cluster/simulated_kubelet.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "sim/cluster/simulated_pods.h"
#include "support/cluster_vocabulary.h"

namespace synergy::testing {
namespace {

constexpr ResourceVector kNode{Gpus(2), Cores(4), GiB(40)};

class IgnoringWatcher final : public PodWatcher {
 public:
  void PodWritten(const SimulatedPod&, const SimulatedPods&) override {}
  void RoomMade(const SimulatedPod&) override { ++room_made; }
  int room_made = 0;
};

class SimulatedKubeletTest : public ::testing::Test {
 protected:
  SimulatedKubeletTest() {
    state_.UpsertNode(MakeNode("node", kNode));
    for (const char* name : {"a", "b"}) {
      Pod pod = OnNode(MakePod(name, Amounts(2)), "node");
      ManagedContainer fungible;
      fungible.requested = fungible.in_force = fungible.set_aside = Amounts(2);
      fungible.floor = Amounts(1);
      fungible.demand = Amounts(3);
      fungible.reported = true;
      pod.fungible = std::make_shared<const ManagedContainer>(fungible);
      pods_.Create(pod);
    }
  }

  static ResourceVector Amounts(int64_t cores) { return {Gpus(1), Cores(cores), GiB(10)}; }
  void Ask(const std::string& uid, int64_t cores) {
    pods_.Write(uid, [&](SimulatedPod& pod) { pod.fungible->requested = Amounts(cores); });
  }
  MilliCpu Free() const { return NodeOf(*state_.Snapshot(), "node").Free().cpu; }

  ClusterState state_;
  IgnoringWatcher watcher_;
  SimulatedPods pods_{state_, watcher_};
  SimulatedKubelet kubelet_{pods_};
};

TEST_F(SimulatedKubeletTest, CutMakesRoomWhenItIsInForceAndNotBefore) {
  Ask("a", 1);
  EXPECT_EQ(Free(), Cores(0));
  EXPECT_EQ(watcher_.room_made, 0);
  EXPECT_EQ(kubelet_.MakeResize("a", kNode), SimulatedKubelet::Resize::kInForce);
  EXPECT_EQ(Free(), Cores(1));
  EXPECT_EQ(watcher_.room_made, 1);
  EXPECT_EQ(kubelet_.MakeResize("a", kNode), SimulatedKubelet::Resize::kNothing);
}

TEST_F(SimulatedKubeletTest, GrowthWithoutRoomIsDeferredAndMadeWhenThereIsSome) {
  Ask("b", 3);
  EXPECT_EQ(kubelet_.MakeResize("b", kNode), SimulatedKubelet::Resize::kDeferred);
  EXPECT_EQ(pods_.Find("b")->fungible->resize, ResizeState::kDeferred);
  EXPECT_EQ(pods_.Find("b")->fungible->in_force, Amounts(2));
  pods_.Remove("a");
  EXPECT_EQ(kubelet_.MakeResize("b", kNode), SimulatedKubelet::Resize::kInForce);
  EXPECT_EQ(pods_.Find("b")->fungible->resize, ResizeState::kNone);
  EXPECT_TRUE(pods_.Find("b")->fungible->Settled());
}

TEST_F(SimulatedKubeletTest, AnnouncedGrowthCountsForTheExtenderAndNotForKubeScheduler) {
  pods_.Remove("a");
  pods_.Write("b", [](SimulatedPod& pod) {
    pod.fungible->change = ChangeRecord{ChangeKind::kGrown, Amounts(2), Amounts(3), "", {}};
    pod.fungible->announced_until = WallTime::max();
  });
  EXPECT_EQ(Free(), Cores(1));
  EXPECT_EQ(pods_.CountedOn("node"), Amounts(2));
}

TEST_F(SimulatedKubeletTest, PodThatIsGoneHasNothingToResize) {
  pods_.Remove("a");
  EXPECT_EQ(kubelet_.MakeResize("a", kNode), SimulatedKubelet::Resize::kNothing);
  EXPECT_EQ(Free(), Cores(2));
}

}  // namespace
}  // namespace synergy::testing
