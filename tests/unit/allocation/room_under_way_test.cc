#include "allocation/room_under_way.h"

#include "unit/allocation/allocation_fixture.h"

namespace synergy {
namespace {

using testing::MakePod;
using testing::OnNode;

class RoomUnderWay : public testing::AllocationFixture {
 protected:
  RoomUnderWay() { HaveNode("n", {Gpus(2), Cores(4), GiB(8)}); }

  bool MayFit(const Pod& pod) { return MayFitSoon(pod, NodeNamed("n")); }

  Pod share = OnNode(MakePod("share", {Gpus(1), Cores(3), GiB(4)}), "n");
  const Pod large = MakePod("large", {Gpus(1), Cores(3), GiB(4)});
};

TEST_F(RoomUnderWay, ComesFromPodsThatAreBeingDeleted) {
  state.UpsertPod(share);
  EXPECT_FALSE(MayFit(large));
  share.deleting = true;
  state.UpsertPod(share);
  EXPECT_TRUE(MayFit(large));
  EXPECT_FALSE(MayFit(MakePod("too large", {Gpus(3), Cores(1), GiB(1)})));
}

TEST_F(RoomUnderWay, ComesFromPodsThatAreBeingCut) {
  ManagedContainer fungible;
  fungible.requested = {Gpus(1), Cores(1), GiB(4)};
  fungible.in_force = fungible.set_aside = {Gpus(1), Cores(3), GiB(4)};
  fungible.reported = true;
  share.fungible = std::make_shared<const ManagedContainer>(fungible);
  state.UpsertPod(share);
  EXPECT_TRUE(MayFit(large));
  fungible.requested = fungible.in_force;
  share.fungible = std::make_shared<const ManagedContainer>(fungible);
  state.UpsertPod(share);
  EXPECT_FALSE(MayFit(large));
}

TEST_F(RoomUnderWay, MayBeOnANodeThatIsNewToUs) { EXPECT_TRUE(MayFitSoon(large, NodeState{})); }

TEST_F(RoomUnderWay, IsKnownToKubeSchedulerWhereBoundPodsAloneLeaveNone) {
  const auto late = [&](const Pod& pod) {
    return IsLate(pod, NodeNamed("n"),
                  [this](const Pod& there) { return !state.FindPlacement(there.uid); });
  };
  EXPECT_TRUE(IsLate(large, NodeState{}, [](const Pod&) { return true; }));
  EXPECT_FALSE(late(large));
  state.UpsertPod(share);
  EXPECT_TRUE(late(large));
  EXPECT_FALSE(late(MakePod("larger than the node", {Gpus(3), Cores(1), GiB(1)})));
  state.RemovePod(share.uid);
  state.Expect(MakePod("expected", {Gpus(1), Cores(3), GiB(4)}), 0, Instant::max());
  EXPECT_FALSE(CheckFit(large, NodeNamed("n")).none());
  EXPECT_FALSE(late(large)) << "kube-scheduler does not count the expected pod";
}

}  // namespace
}  // namespace synergy
