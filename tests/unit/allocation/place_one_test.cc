// Tests which node of a cluster PlaceOne chooses.

#include "support/place_one.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocation/best_fit.h"
#include "unit/allocation/allocation_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::Optional;

class PlaceOneTest : public AllocationFixture {
 protected:
  std::optional<std::string> PlaceFor(const Pod& pod, const ReserveRule& rule = {}) {
    snapshot = state.Snapshot();
    const auto place = PlaceOne(*snapshot, pod, rule);
    if (!place) return std::nullopt;
    return snapshot->node(*place).detail->name;
  }
};

TEST_F(PlaceOneTest, AnEmptyClusterHasNoPlace) {
  EXPECT_EQ(PlaceFor(MakeGpuPod("p", 1)), std::nullopt);
}

TEST_F(PlaceOneTest, APodThatFitsNowhereHasNoPlace) {
  HaveNode("n1");
  Taken("n1", {Gpus(8), Cores(0), GiB(0)});
  HaveNode("no gpus", {Gpus(0), Cores(24), GiB(500)});
  state.UpsertNode(Cordoned(MakeNode("cordoned", kServer)));
  EXPECT_EQ(PlaceFor(MakeGpuPod("p", 1)), std::nullopt);
}

TEST_F(PlaceOneTest, ATolerantPodMayGoToACordonedNode) {
  state.UpsertNode(Cordoned(MakeNode("cordoned", kServer)));
  Pod pod = MakeGpuPod("p", 1);
  pod.tolerates_unschedulable = true;
  EXPECT_THAT(PlaceFor(pod), Optional(std::string("cordoned")));
}

TEST_F(PlaceOneTest, SmallPodsFillTheFullestNodeThatHoldsThem) {
  HaveNode("empty");
  HaveNode("half full");
  Taken("half full", {Gpus(4), Cores(12), GiB(250)});
  HaveNode("full");
  Taken("full", kServer);
  EXPECT_THAT(PlaceFor(MakePod("p", {Gpus(2), Cores(6), GiB(100)})),
              Optional(std::string("half full")));
}

TEST_F(PlaceOneTest, ASmallNodeIsTakenBeforeALargeOne) {
  HaveNode("large");
  HaveNode("small", {Gpus(2), Cores(8), GiB(64)});
  EXPECT_THAT(PlaceFor(MakePod("p", {Gpus(2), Cores(8), GiB(64)})), Optional(std::string("small")));
  EXPECT_THAT(PlaceFor(MakePod("p", {Gpus(4), Cores(8), GiB(64)})), Optional(std::string("large")));
}

TEST_F(PlaceOneTest, AHungryPodGoesWhereItsDemandFitsThoughAFullerNodeWouldHoldItsRequests) {
  HaveNode("empty");
  HaveNode("fuller");
  Taken("fuller", {Gpus(4), Cores(20), GiB(250)});
  const Pod hungry = Demanding(MakePod("p", {Gpus(1), Cores(1), GiB(20)}), Cores(12), GiB(60));
  EXPECT_THAT(PlaceFor(hungry), Optional(std::string("empty")));
}

TEST_F(PlaceOneTest, TwoHungryPodsSpreadSoThatNoGpuIsStranded) {
  // The reserve matters here: together the pods would take all of one server's CPU and strand its
  // other six GPUs.
  HaveNode("a");
  HaveNode("b");
  const ReserveRule reserve{.per_gpu = ResourceVector{Gpus(1), Cores(1), GiB(20)}};
  Taken("a", {Gpus(1), Cores(12), GiB(60)});
  const Pod hungry = MakePod("p", {Gpus(1), Cores(12), GiB(60)});
  EXPECT_THAT(PlaceFor(hungry, reserve), Optional(std::string("b")));
  EXPECT_THAT(PlaceFor(hungry, {.per_gpu = ResourceVector{}}), Optional(std::string("a")));
}

TEST_F(PlaceOneTest, BetweenEqualNodesTheNameDecides) {
  for (const std::string name : {"n10", "n2", "n1", "n3"}) HaveNode(name);
  EXPECT_THAT(PlaceFor(MakeGpuPod("p", 1)), Optional(std::string("n1")));
}

TEST_F(PlaceOneTest, PlacementIgnoresTheOrderInWhichNodesWereAdded) {
  const std::vector<Node> nodes = {MakeNode("a", kServer), MakeNode("b", kServer),
                                   MakeNode("c", {Gpus(4), Cores(64), GiB(100)}),
                                   MakeNode("d", {Gpus(2), Cores(4), GiB(900)})};
  std::vector<size_t> order = {0, 1, 2, 3};
  const Pod small = Demanding(MakePod("small", {Gpus(2), Cores(2), GiB(30)}), Cores(20), GiB(80));
  const Pod large = MakePod("large", {Gpus(8), Cores(8), GiB(100)});
  do {
    ClusterState cluster;
    for (const size_t i : order) cluster.UpsertNode(nodes[i]);
    const auto now = cluster.Snapshot();
    EXPECT_EQ(PlaceOne(*now, small, {}), now->Find("a")) << "with less beside each GPU than c";
    EXPECT_EQ(PlaceOne(*now, large, {}), now->Find("a")) << "a and b are equal";
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(PlaceOneTest, ANodeThatLeftIsNoPlaceThoughItsPodsAreStillKnown) {
  HaveNode("n1");
  Taken("n1", {Gpus(1), Cores(1), GiB(1)});
  state.RemoveNode("n1");
  EXPECT_EQ(PlaceFor(MakeGpuPod("p", 1)), std::nullopt);
}

}  // namespace
}  // namespace synergy::testing
