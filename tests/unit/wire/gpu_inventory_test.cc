#include "wire/objects/gpu_inventory.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/inventory/inventory_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using wire::NodeGpus;
using wire::ReadGpuInventory;
using wire::WriteGpuInventory;

NodeGpus SampleGpus() {
  std::vector<Gpu> gpus = MakeGpus(4, 2);
  for (Gpu& gpu : gpus) gpu.device_nodes.clear();  // only the device plugin itself uses these
  gpus[0].pci_id = "0000:3b:00.0";
  gpus[0].compute_capability = ComputeCapability{8, 0};
  gpus[1].numa_node = kNoNuma;
  gpus[3].mig_enabled = true;
  gpus[3].mig_capable = true;
  gpus[3].mig_devices = {{"MIG-0", "1g.10gb", GiB(10), {}}};
  NodeGpus sample;
  sample.inventory = GpuInventory(gpus);
  sample.inventory.SetLink(0, 2, {PciPath::kHostBridge, 4});
  sample.inventory.driver_version = "550.54";
  sample.inventory.cuda_version = "12.4";
  sample.health = {{}, {false, ""}, {}, {}};
  sample.owned_labels = {"nvidia.com/gpu.count", "nvidia.com/gpu.product"};
  return sample;
}

std::string ErrorOf(const std::string& text) {
  const auto read = ReadGpuInventory(text);
  return read ? "no error" : read.error().message;
}

TEST(GpuInventoryTest, InventoryIsReadBackUnchanged) {
  const auto read = ReadGpuInventory(WriteGpuInventory(SampleGpus()));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(*read, SampleGpus());
}

TEST(GpuInventoryTest, TheTextIsShortAndAlwaysTheSame) {
  NodeGpus gpus;
  gpus.inventory = GpuInventory(MakeGpus(2, 1));
  gpus.inventory.SetLink(0, 1, {PciPath::kNode, 12});
  gpus.health = {{}, {false, "Xid 79"}};
  EXPECT_EQ(
      WriteGpuInventory(gpus),
      R"({"version":1,"gpus":[)"
      R"({"id":"GPU-0","product":"NVIDIA A100-SXM4-80GB","memory":85899345920,"numa":0,"healthy":true},)"
      R"({"id":"GPU-1","product":"NVIDIA A100-SXM4-80GB","memory":85899345920,"numa":0,"healthy":false}],)"
      R"("links":[[0,1,"node",12]],"labels":[]})");
}

TEST(GpuInventoryTest, SixtyFourLinkedGpusFitIntoAnAnnotation) {
  NodeGpus gpus;
  gpus.inventory = WithNvSwitch(64);
  const std::string text = WriteGpuInventory(gpus);
  EXPECT_LT(text.size(), wire::kLongestGpuInventory);
  EXPECT_EQ(ReadGpuInventory(text).value().inventory.link(0, 63).nvlinks, 12);
}

TEST(GpuInventoryTest, SkipsMembersOfNewerVersions) {
  const auto read = ReadGpuInventory(
      R"({"version":1,"gpus":[{"id":"a","speed":9}],"links":[],"labels":[],"more":{}})");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE(read->health[0].healthy);
}

TEST(GpuInventoryTest, ErrorsNameTheField) {
  EXPECT_THAT(ErrorOf(""), HasSubstr("synergy.io/gpu-inventory"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("object"));
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("version"));
  EXPECT_THAT(ErrorOf(R"({"version":2})"), HasSubstr("version"));
  EXPECT_THAT(ErrorOf(R"({"version":1,"gpus":[{}]})"), HasSubstr("gpus[0].id: is missing"));
  EXPECT_THAT(ErrorOf(R"({"version":1,"gpus":[{"id":"a","memory":"x"}]})"), HasSubstr("memory"));
  EXPECT_THAT(ErrorOf(R"({"version":1,"gpus":[{"id":"a"}],"links":[[0,1,"node",2]]})"),
              HasSubstr("links[0][1]"));
  EXPECT_THAT(ErrorOf(R"({"version":1,"gpus":[{"id":"a"}],"links":[[0,0]]})"),
              HasSubstr("links[0]"));
  EXPECT_THAT(ErrorOf(R"({"version":1,"links":[[0,0,"node",2]]})"), HasSubstr("links"));
}

TEST(GpuInventoryTest, TextOfOthersHasABoundedCost) {
  EXPECT_THAT(ErrorOf(std::string(wire::kLongestGpuInventory + 1, ' ')), HasSubstr("longer"));
  std::string many = R"({"version":1,"gpus":[{"id":"a"})";
  for (int i = 0; i < 64; ++i) many += R"(,{"id":"a"})";
  EXPECT_THAT(ErrorOf(many + "]}"), HasSubstr("one GPU too many"));
}

TEST(GpuInventoryTest, ANodesLabelsAndAnnotationAreRead) {
  const auto node = wire::ReadNodeGpuMetadata(
      R"({"metadata":{"name":"n","labels":{"a":"1"},"annotations":{"synergy.io/gpu-inventory":"x"}}})");
  ASSERT_TRUE(node.has_value());
  EXPECT_THAT(node->labels, ElementsAre(Pair("a", "1")));
  EXPECT_EQ(node->gpu_inventory, "x");
  const auto bare = wire::ReadNodeGpuMetadata(R"({"metadata":{"name":"n"}})");
  ASSERT_TRUE(bare.has_value());
  EXPECT_THAT(bare->labels, IsEmpty());
  EXPECT_EQ(bare->gpu_inventory, "");
}

TEST(GpuInventoryTest, APatchSetsAndRemovesLabelsAndQuotesTheAnnotation) {
  NodeLabelChange labels;
  labels.changes = {{"a", "1"}, {"b", std::nullopt}};
  EXPECT_EQ(wire::WriteNodeGpuPatch(labels, R"({"version":1})"),
            R"({"metadata":{"labels":{"a":"1","b":null},)"
            R"("annotations":{"synergy.io/gpu-inventory":"{\"version\":1}"}}})");
}

TEST(GpuReportTest, HasHealthByResourceWithReasons) {
  const GpuInventory inventory(MakeGpus(1, 1));
  const auto advertisement =
      Advertise(inventory, {}, [](std::string_view) -> GpuHealth { return {false, "Xid 79"}; });
  const std::string report = wire::WriteGpuReport(inventory, advertisement);
  EXPECT_THAT(report, HasSubstr(R"("deviceNodes":["/dev/nvidia0"])"));
  EXPECT_THAT(
      report,
      HasSubstr(
          R"("resources":{"nvidia.com/gpu":[{"id":"GPU-0","healthy":false,"reason":"Xid 79"}]})"));
}

TEST(GpuReportTest, ListsGpusThatCannotBeReached) {
  EXPECT_THAT(wire::WriteGpuReport(GpuInventory(), {}, {{2, "GPU is lost"}}),
              HasSubstr(R"("unreachable":["index 2: GPU is lost"])"));
}

}  // namespace
}  // namespace synergy::testing
