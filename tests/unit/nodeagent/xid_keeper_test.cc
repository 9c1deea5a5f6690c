#include "nodeagent/gpus/xid_keeper.h"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace synergy::testing {
namespace {

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
  XidKeeperTest() { keeper.Replace({PodOnNode("a", "u-a"), PodOnNode("b", "u-b")}); }

  ContainerXid Xid(const std::string& pod, int32_t xid) const {
    return {"team", pod, "main", xid, clock.WallNow()};
  }

  FakeClock clock;
  XidKeeper keeper{clock};
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
  keeper.Replace({PodOnNode("a", "u-new")});
  clock.Advance(seconds(5));
  keeper.Observe({seen});
  EXPECT_THAT(keeper.Report(), ElementsAre(PodXid{"u-a", "main", 79, seen.at}));
  keeper.Observe({seen, Xid("a", 79)});
  EXPECT_THAT(keeper.Report(), SizeIs(2)) << "another one has come";
}

TEST_F(XidKeeperTest, AnXidThatEndedItsPodIsKeptAlthoughThePodHasLeftTheNode) {
  const ContainerXid removed = Xid("a", 79);
  const ContainerXid not_listed = Xid("b", 48);
  clock.Advance(seconds(3));
  keeper.Remove(PodOnNode("a", "u-a"));
  keeper.Replace({});
  clock.Advance(seconds(2));
  // Another pod of the same name does not get earlier Xids.
  keeper.Upsert(PodOnNode("a", "u-new"));
  keeper.Observe({removed, not_listed});
  EXPECT_THAT(keeper.Report(), ElementsAre(PodXid{"u-a", "main", 79, removed.at},
                                           PodXid{"u-b", "main", 48, not_listed.at}));
}

TEST_F(XidKeeperTest, AnXidBelongsToThePodThatHadTheNameWhenItCame) {
  std::vector<ContainerXid> xids;
  for (int32_t pod = 1; pod <= 5; ++pod) {
    keeper.Upsert(PodOnNode("again", std::to_string(pod)));
    clock.Advance(seconds(10));
    xids.push_back(Xid("again", pod));
    clock.Advance(seconds(10));
    if (pod < 5) keeper.Remove(PodOnNode("again", std::to_string(pod)));
  }
  keeper.Observe(xids);
  const std::vector<PodXid> report = keeper.Report();
  ASSERT_THAT(report, SizeIs(5));
  for (const PodXid& each : report) EXPECT_EQ(each.uid, std::to_string(each.xid));
}

TEST_F(XidKeeperTest, RemembersABoundedNumberOfPodsThatHaveGone) {
  for (size_t pod = 0; pod <= XidKeeper::kMostGone; ++pod) {
    keeper.Upsert(PodOnNode("p" + std::to_string(pod), std::to_string(pod)));
    keeper.Remove(PodOnNode("", std::to_string(pod)));
  }
  keeper.Observe({Xid("p0", 79), Xid("p1", 79)});
  ASSERT_THAT(keeper.Report(), SizeIs(1));
  EXPECT_EQ(keeper.Report().front().uid, "1");
  clock.Advance(minutes(6));
  keeper.Observe({Xid("p2", 79)});
  EXPECT_THAT(keeper.Report(), SizeIs(1)) << "it left too long ago";
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
