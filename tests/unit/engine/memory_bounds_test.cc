#include "engine/retries/memory_bounds.h"

#include <gtest/gtest.h>

#include "cluster/state/cluster_state.h"
#include "support/cluster_vocabulary.h"

namespace synergy::testing {
namespace {

class MemoryBoundsTest : public ::testing::Test {
 protected:
  void HaveNode(const std::string& name, Gpus gpus, Bytes memory, const std::string& product) {
    Node node = MakeNode(name, {gpus, Cores(8), memory});
    if (!product.empty()) node.gpu_kinds.products = {product};
    state.UpsertNode(node);
  }
  Bytes Most() { return MostMemoryFor(*state.Snapshot(), "team", measured); }

  ClusterState state;
  MeasuredProfile measured{.workload = "w-1", .gpu_product = "A100", .gpus = Gpus(2)};
};

TEST_F(MemoryBoundsTest, TheLargestMachineThatAPodMayGoToKeepsAnEighth) {
  HaveNode("small", Gpus(2), GiB(16), "A100");
  EXPECT_EQ(Most(), GiB(14));
  HaveNode("few-gpus", Gpus(1), GiB(64), "A100");
  HaveNode("another-product", Gpus(8), GiB(64), "V100");
  EXPECT_EQ(Most(), GiB(14));
  HaveNode("unknown-product", Gpus(8), GiB(32), "");
  EXPECT_EQ(Most(), GiB(28));
  // Pods that Synergy does not size have their part.
  Pod other = MakePod("other", {Gpus(0), Cores(1), GiB(8)});
  other.node = "unknown-product";
  state.UpsertPod(other);
  EXPECT_EQ(Most(), GiB(21));
}

TEST_F(MemoryBoundsTest, WithoutAMachineThereIsNoBoundButTheNamespaces) {
  EXPECT_GT(Most(), GiB(100'000));
  ResourceQuota quota{.uid = "q", .pod_namespace = "team"};
  quota.limits.hard.memory = GiB(12);
  state.UpsertResourceQuota(quota);
  EXPECT_EQ(Most(), GiB(12));
  HaveNode("small", Gpus(2), GiB(8), "A100");
  EXPECT_EQ(Most(), GiB(7));
}

}  // namespace
}  // namespace synergy::testing
