#include "nodeagent/gpus/xid_keeper.h"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace synergy::testing {
namespace {

using nodeagent::NodePods;
using nodeagent::XidKeeper;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

wire::ResizeStatus PodOnNode(const std::string& name, const std::string& uid) {
  wire::ResizeStatus pod;
  pod.pod_namespace = "team";
  pod.name = name;
  pod.uid = uid;
  return pod;
}

class XidKeeperTest : public ::testing::Test {
 protected:
  XidKeeperTest() { pods.Replace({PodOnNode("a", "u-a"), PodOnNode("b", "u-b")}); }

  ContainerXid Xid(const std::string& pod, int32_t xid) const {
    return {"team", pod, "main", xid, clock.WallNow()};
  }

  NodePods pods;
  FakeClock clock;
  XidKeeper keeper{pods, clock};
};

TEST_F(XidKeeperTest, KeepsXidsByTheUidOfTheirPods) {
  const WallTime at = clock.WallNow();
  keeper.Observe({Xid("a", 31), Xid("b", 31), Xid("other", 79)});
  EXPECT_THAT(keeper.Report(),
              ElementsAre(PodXid{"u-a", "main", 31, at}, PodXid{"u-b", "main", 31, at}));
}

TEST_F(XidKeeperTest, ANewPodOfTheNameDoesNotInheritThem) {
  const ContainerXid seen = Xid("a", 79);
  keeper.Observe({seen});
  pods.Replace({PodOnNode("a", "u-new")});
  clock.Advance(seconds(5));
  keeper.Observe({seen});
  EXPECT_THAT(keeper.Report(), ElementsAre(PodXid{"u-a", "main", 79, seen.at}));
  keeper.Observe({seen, Xid("a", 79)});
  EXPECT_THAT(keeper.Report(), SizeIs(2)) << "another one has come";
}

TEST_F(XidKeeperTest, ForgetsOldOnesAndKeepsABoundedNumber) {
  keeper.Observe({Xid("a", 31)});
  clock.Advance(seconds(1));
  keeper.Observe({Xid("a", 31)});
  EXPECT_THAT(keeper.Report(), ElementsAre(PodXid{"u-a", "main", 31, clock.WallNow()}));
  for (int32_t xid = 1; xid <= 1000; ++xid) keeper.Observe({Xid("b", xid)});
  EXPECT_THAT(keeper.Report(), SizeIs(XidOwners::kMost));
  clock.Advance(minutes(36));
  keeper.Observe({});
  EXPECT_THAT(keeper.Report(), IsEmpty());
}

}  // namespace
}  // namespace synergy::testing
