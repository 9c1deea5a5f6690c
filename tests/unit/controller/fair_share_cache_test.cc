#include "controller/cluster/fair_share_cache.h"

#include <gtest/gtest.h>

#include "allocation/fair_share.h"
#include "support/cluster_vocabulary.h"
#include "support/fake_clock.h"

namespace synergy::controller {
namespace {

using synergy::testing::Cordoned;
using synergy::testing::MakeNode;
using synergy::testing::MakePod;
using synergy::testing::OnNode;

class FairSharesTest : public ::testing::Test {
 protected:
  FairSharesTest() {
    state.UpsertNode(MakeNode("small", {Gpus(2), Cores(8), GB(200)}));
    state.UpsertNode(Labelled(MakeNode("large", {Gpus(8), Cores(48), GB(800)}), "A100"));
  }

  static Node Labelled(Node node, const std::string& product) {
    node.labels = {{"nvidia.com/gpu.product", product}};
    node.gpu_kinds.products = {product};
    return node;
  }

  // Returns the share in the current cluster.
  std::optional<ResourceVector> Find(int64_t gpus, const std::string& product = {}) {
    shares.Refresh();
    return Remembered(gpus, product);
  }
  std::optional<ResourceVector> Remembered(int64_t gpus, const std::string& product = {}) {
    return shares.Find(selection, Gpus(gpus), product);
  }

  ClusterState state;
  synergy::testing::FakeClock clock;
  FairShareCache shares{state, clock};
  NodeSelection selection;
};

TEST_F(FairSharesTest, IsTheLeastOfEachDimensionAcrossNodes) {
  state.UpsertNode(MakeNode("lean", {Gpus(4), Cores(40), GB(100)}));
  EXPECT_EQ(Find(1), (ResourceVector{Gpus(1), Cores(4), GB(25)}));
}

// The controller cannot see nodes that an autoscaler could create.
TEST_F(FairSharesTest, IsNoMoreThanTheLeastPoolHas) {
  const auto find = [this](const ResourceVector& least_pool) {
    FairShareCache bounded{state, clock, {}, least_pool};
    return bounded.Find(selection, Gpus(4), "");
  };
  EXPECT_EQ(find({}), (ResourceVector{Gpus(4), Cores(24), GB(400)}));
  EXPECT_EQ(find({{}, Cores(5), {}}), (ResourceVector{Gpus(4), Cores(20), GB(400)}));
  EXPECT_EQ(find({{}, Cores(10), GB(50)}), (ResourceVector{Gpus(4), Cores(24), GB(200)}));
}

TEST_F(FairSharesTest, OnlyNodesWithEnoughGpusCount) {
  EXPECT_EQ(Find(4), (ResourceVector{Gpus(4), Cores(24), GB(400)}));
  EXPECT_EQ(Find(16), std::nullopt);
}

TEST_F(FairSharesTest, OnlyNodesWithTheGpusAskedForCount) {
  state.UpsertNode(Labelled(MakeNode("small", {Gpus(2), Cores(8), GB(200)}), "T4"));
  EXPECT_EQ(Find(1, "A100"), (ResourceVector{Gpus(1), Cores(6), GB(100)}));
  EXPECT_EQ(Find(1, "H100"), std::nullopt);
}

TEST_F(FairSharesTest, NodesWithoutAKnownProductCountForAny) {
  EXPECT_EQ(Find(1, "A100"), (ResourceVector{Gpus(1), Cores(4), GB(100)}));
  EXPECT_EQ(Find(1, "H100"), (ResourceVector{Gpus(1), Cores(4), GB(100)}));
}

TEST_F(FairSharesTest, OnlyNodesThatThePodMayGoToCount) {
  selection.node_selector = {{"nvidia.com/gpu.product", "A100"}};
  EXPECT_EQ(Find(1), (ResourceVector{Gpus(1), Cores(6), GB(100)}));
  Node tainted = Labelled(MakeNode("large", {Gpus(8), Cores(48), GB(800)}), "A100");
  tainted.taints = {{"nvidia.com/gpu", "", "NoSchedule"}};
  state.UpsertNode(tainted);
  EXPECT_EQ(Find(1), std::nullopt);
  selection.tolerations = {{"nvidia.com/gpu", "", "", true}};
  EXPECT_EQ(Find(1), (ResourceVector{Gpus(1), Cores(6), GB(100)}));
}

TEST_F(FairSharesTest, CordonedNodesAndThoseOthersHaveFilledDoNotCount) {
  state.UpsertNode(Cordoned(MakeNode("small", {Gpus(2), Cores(8), GB(200)})));
  EXPECT_EQ(Find(1)->cpu, Cores(6));
  state.UpsertPod(OnNode(MakePod("hog", {Gpus(0), Cores(48), GB(1)}), "large"));
  EXPECT_EQ(Find(1), std::nullopt);
}

TEST_F(FairSharesTest, FollowsTheClusterAndItsPodsWithoutGpus) {
  EXPECT_EQ(Find(1)->cpu, Cores(4));
  EXPECT_EQ(Find(1)->cpu, Cores(4));
  state.UpsertPod(OnNode(MakePod("logs", {Gpus(0), Cores(2), GB(1)}), "small"));
  EXPECT_EQ(Find(1)->cpu, Cores(3));
  state.RemoveNode("small");
  EXPECT_EQ(Find(1)->cpu, Cores(6));
}

TEST_F(FairSharesTest, CachedShareIsNeverOlderThanItsLimit) {
  EXPECT_EQ(Remembered(1)->cpu, Cores(4));
  state.RemoveNode("small");
  EXPECT_EQ(Remembered(1)->cpu, Cores(4));
  clock.Advance(FairShareCache::kMostAge);
  EXPECT_EQ(Remembered(1)->cpu, Cores(4));
  clock.Advance(std::chrono::nanoseconds(1));
  EXPECT_EQ(Remembered(1)->cpu, Cores(6));
}

TEST_F(FairSharesTest, AbsenceOfANodeIsNotCached) {
  EXPECT_EQ(Remembered(16), std::nullopt);
  state.UpsertNode(MakeNode("huge", {Gpus(16), Cores(64), GB(800)}));
  EXPECT_EQ(Remembered(16)->cpu, Cores(64));
}

TEST_F(FairSharesTest, AClusterThatStaysAsItIsKeepsWhatIsRemembered) {
  EXPECT_EQ(Remembered(1)->cpu, Cores(4));
  clock.Advance(std::chrono::hours(1));
  EXPECT_EQ(Remembered(1)->cpu, Cores(4));
  shares.Refresh();
  EXPECT_EQ(Remembered(1)->cpu, Cores(4));
}

TEST_F(FairSharesTest, CachesManyKindsOfPodsSeparately) {
  for (int round = 0; round < 2; ++round) {
    for (int64_t gpus = 1; gpus <= 8; ++gpus) {
      for (const char* product : {"", "A100", "H100"}) {
        for (const bool tolerates : {true, false}) {
          selection.tolerations.clear();
          if (tolerates) selection.tolerations = {{"x", "", "", true}};
          EXPECT_EQ(Find(gpus, product),
                    LeastFairShare(*state.Snapshot(), &selection, Gpus(gpus), product, {}));
        }
      }
    }
  }
}

}  // namespace
}  // namespace synergy::controller
