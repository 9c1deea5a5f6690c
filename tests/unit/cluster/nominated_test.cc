#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "support/cluster_vocabulary.h"

namespace synergy {
namespace {

using synergy::testing::MakeGpuPod;
using synergy::testing::MakeNode;
using synergy::testing::NodeOf;
using synergy::testing::OnNode;
using synergy::testing::WithPriority;

Pod Nominated(Pod pod, std::string node, std::string kept_node = {}) {
  auto waiting = std::make_shared<Waiting>();
  waiting->nominated_node = std::move(node);
  waiting->kept_node = std::move(kept_node);
  waiting->kept_until = WallTime(std::chrono::seconds(1000));
  pod.waiting = std::move(waiting);
  return pod;
}

// Tests a pod for which kube-scheduler has evicted others.
class NominatedTest : public ::testing::Test {
 protected:
  NominatedTest() {
    state.UpsertNode(MakeNode("a", {Gpus(4), Cores(8), GiB(8)}));
    state.UpsertNode(MakeNode("b", {Gpus(4), Cores(8), GiB(8)}));
    state.UpsertPod(Nominated(WithPriority(MakeGpuPod("p", 2), 5), "a"));
  }
  NodeState On(const std::string& node) const { return NodeOf(*state.Snapshot(), node); }
  Gpus Reserved(const std::string& node, const std::string& but = {}, int32_t least = 0) const {
    return On(node).Free().gpus - WithNominated(On(node), but, least).Free().gpus;
  }

  ClusterState state;
};

TEST_F(NominatedTest, IsReservedButNotTaken) {
  EXPECT_EQ(On("a").Free().gpus, Gpus(4));
  EXPECT_EQ(Reserved("a"), Gpus(2));
  EXPECT_EQ(Reserved("b"), Gpus(0));
}

TEST_F(NominatedTest, DoesNotBlockItself) { EXPECT_EQ(Reserved("a", "p"), Gpus(0)); }

TEST_F(NominatedTest, DoesNotBlockPodsOfHigherPriority) {
  EXPECT_EQ(Reserved("a", {}, 5), Gpus(2));
  EXPECT_EQ(Reserved("a", {}, 6), Gpus(0));
}

TEST_F(NominatedTest, CountsOnceWhereAPlaceIsKept) {
  state.UpsertPod(Nominated(MakeGpuPod("p", 2), "a", "a"));
  EXPECT_EQ(WithNominated(On("a")).Free().gpus, Gpus(2));
  state.UpsertPod(Nominated(MakeGpuPod("p", 2), "a", "b"));
  EXPECT_EQ(WithNominated(On("a")).Free().gpus, Gpus(4));
  EXPECT_EQ(WithNominated(On("b")).Free().gpus, Gpus(2));
}

TEST_F(NominatedTest, CountsOnceWhereItIsAssumedOrBound) {
  const Instant later(std::chrono::hours(1));
  ASSERT_TRUE(state.Assume(MakeGpuPod("p", 2), "a", later).assumed);
  EXPECT_EQ(WithNominated(On("a")).Free().gpus, Gpus(2));
  state.Forget("p");
  EXPECT_EQ(Reserved("a"), Gpus(2));
  state.UpsertPod(OnNode(MakeGpuPod("p", 2), "a"));
  EXPECT_EQ(Reserved("a"), Gpus(0));
  EXPECT_EQ(On("a").Free().gpus, Gpus(2));
}

TEST_F(NominatedTest, EndsWithTheNominationAndWithThePod) {
  state.UpsertPod(Nominated(MakeGpuPod("p", 2), "b"));
  EXPECT_EQ(Reserved("a"), Gpus(0));
  EXPECT_EQ(Reserved("b"), Gpus(2));
  state.RemovePod("p");
  EXPECT_EQ(Reserved("b"), Gpus(0));
}

TEST_F(NominatedTest, MayBeToANodeThatIsNotKnownYet) {
  state.UpsertPod(Nominated(MakeGpuPod("q", 1), "c"));
  state.UpsertNode(MakeNode("c", {Gpus(4), Cores(8), GiB(8)}));
  EXPECT_EQ(Reserved("c"), Gpus(1));
  state.RemovePod("q");
  state.RemoveNode("c");
  EXPECT_FALSE(state.Snapshot()->Find("c"));
}

}  // namespace
}  // namespace synergy
