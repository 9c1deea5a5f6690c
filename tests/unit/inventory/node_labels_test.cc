#include "inventory/node_labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inventory/inventory_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST(NodeLabelsTest, UsesTheLabelNamesOfTheEcosystem) {
  std::vector<Gpu> gpus = MakeGpus(8, 2);
  gpus[0].compute_capability = ComputeCapability{8, 0};
  GpuInventory inventory(gpus);
  inventory.driver_version = "550.54.15";
  inventory.cuda_version = "12.4";
  EXPECT_THAT(
      DesiredNodeLabels(inventory),
      ElementsAre(Pair("nvidia.com/cuda.driver-version.full", "550.54.15"),
                  Pair("nvidia.com/cuda.runtime-version.full", "12.4"),
                  Pair("nvidia.com/gpu.compute.major", "8"),
                  Pair("nvidia.com/gpu.compute.minor", "0"), Pair("nvidia.com/gpu.count", "8"),
                  Pair("nvidia.com/gpu.memory", "81920"), Pair("nvidia.com/gpu.present", "true"),
                  Pair("nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB")));
}

TEST(NodeLabelsTest, ANodeWithoutGpusHasNone) {
  EXPECT_THAT(DesiredNodeLabels(GpuInventory()), IsEmpty());
}

TEST(NodeLabelsTest, ValuesAreWhatALabelMayHold) {
  std::vector<Gpu> gpus = MakeGpus(1, 1, "(GeForce) RTX/4090 " + std::string(100, 'x'));
  const std::string value = DesiredNodeLabels(GpuInventory(gpus)).at("nvidia.com/gpu.product");
  EXPECT_TRUE(value.starts_with("GeForce--RTX-4090-xxx")) << value;
  EXPECT_LE(value.size(), 63U);
}

TEST(NodeLabelsTest, SetsAndOwnsMissingLabels) {
  const NodeLabelChange plan = PlanNodeLabels({{"a", "1"}, {"b", "2"}}, {{"other", "x"}}, {});
  EXPECT_THAT(plan.changes, ElementsAre(Pair("a", "1"), Pair("b", "2")));
  EXPECT_THAT(plan.owned, ElementsAre("a", "b"));
}

TEST(NodeLabelsTest, LeavesForeignLabels) {
  const NodeLabelChange plan = PlanNodeLabels({{"a", "1"}, {"b", "2"}}, {{"a", "theirs"}}, {});
  EXPECT_THAT(plan.changes, ElementsAre(Pair("b", "2")));
  EXPECT_THAT(plan.owned, ElementsAre("b"));
}

TEST(NodeLabelsTest, OwnLabelFollowsTheFactsAndIsWrittenOnce) {
  EXPECT_THAT(PlanNodeLabels({{"a", "2"}}, {{"a", "1"}}, {{"a", "1"}}).changes,
              ElementsAre(Pair("a", "2")));
  EXPECT_THAT(PlanNodeLabels({{"a", "2"}}, {{"a", "2"}}, {{"a", "2"}}).changes, IsEmpty());
}

TEST(NodeLabelsTest, OwnLabelChangedByOthersBecomesTheirs) {
  for (const NodeLabels& desired : {NodeLabels{{"a", "1"}}, NodeLabels{{"a", "2"}}, NodeLabels{}}) {
    const NodeLabelChange plan = PlanNodeLabels(desired, {{"a", "theirs"}}, {{"a", "1"}});
    EXPECT_THAT(plan.changes, IsEmpty());
    EXPECT_THAT(plan.owned, IsEmpty());
  }
}

TEST(NodeLabelsTest, RestoresARemovedOwnLabel) {
  EXPECT_THAT(PlanNodeLabels({{"a", "1"}}, {}, {{"a", "1"}}).changes, ElementsAre(Pair("a", "1")));
}

TEST(NodeLabelsTest, RemovesAnOwnLabelThatIsNoLongerTrue) {
  const NodeLabelChange plan =
      PlanNodeLabels({}, {{"a", "1"}, {"theirs", "1"}}, {{"a", "1"}, {"gone", "1"}});
  EXPECT_THAT(plan.changes, ElementsAre(Pair("a", std::nullopt)));
  EXPECT_THAT(plan.owned, IsEmpty());
}

TEST(NodeLabelsTest, MigCapabilityHasALabelBeforeMigIsOn) {
  std::vector<Gpu> gpus = MakeGpus(2, 1);
  EXPECT_FALSE(DesiredNodeLabels(GpuInventory(gpus)).contains("nvidia.com/mig.capable"));
  gpus[1].mig_capable = true;
  EXPECT_EQ(DesiredNodeLabels(GpuInventory(gpus)).at("nvidia.com/mig.capable"), "true");
}

TEST(NodeLabelsTest, SharedGpusHaveTheLabelsOfGpuFeatureDiscovery) {
  const GpuInventory inventory(MakeGpus(2, 1));
  EXPECT_FALSE(DesiredNodeLabels(inventory).contains("nvidia.com/gpu.replicas"));
  EXPECT_EQ(DesiredNodeLabels(inventory, 4, true).at("nvidia.com/gpu.sharing-strategy"), "turns");
  const NodeLabels labels = DesiredNodeLabels(inventory, 4);
  EXPECT_EQ(labels.at("nvidia.com/gpu.replicas"), "4");
  EXPECT_EQ(labels.at("nvidia.com/gpu.sharing-strategy"), "time-slicing");
  EXPECT_EQ(labels.at("nvidia.com/gpu.count"), "2");
}

}  // namespace
}  // namespace synergy::testing
