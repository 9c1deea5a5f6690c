#include "config/inventory_file.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using config::InventoryFile;
using config::ParseInventoryFile;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::StartsWith;

InventoryFile ReadInventory(const std::string& yaml) {
  const auto file = ParseInventoryFile(yaml, "gpus.yaml");
  EXPECT_TRUE(file.has_value()) << file.error().message;
  return file.value_or(InventoryFile{});
}

std::string InventoryError(const std::string& yaml) {
  const auto file = ParseInventoryFile(yaml, "gpus.yaml");
  return file ? "no error" : file.error().message;
}

TEST(InventoryFileTest, EveryFieldIsRead) {
  const InventoryFile file = ReadInventory(R"(
driverVersion: "550.54"
cudaVersion: "12.4"
sharedDeviceNodes: [/dev/nvidiactl]
nvlinks: 12
gpus:
- uuid: GPU-0
  product: NVIDIA A100-SXM4-80GB
  memory: 80Gi
  numaNode: 1
  pciId: "0000:3b:00.0"
  computeCapability: "8.0"
  deviceNodes: [/dev/nvidia0]
- {uuid: GPU-1, product: x, unhealthy: fan broken}
- uuid: GPU-2
  product: x
  migDevices: [{uuid: MIG-0, profile: 1g.10gb, memory: 10Gi, deviceNodes: [/dev/nvidia-caps/nvidia-cap3]}]
links:
- {between: [GPU-0, GPU-2], path: single-switch, nvlinks: 0}
)");
  ASSERT_EQ(file.inventory.gpus().size(), 3U);
  const Gpu& gpu = file.inventory.gpus()[0];
  EXPECT_EQ(gpu.uuid, "GPU-0");
  EXPECT_EQ(gpu.memory, GiB(80));
  EXPECT_EQ(gpu.numa_node, 1);
  EXPECT_EQ(gpu.pci_id, "0000:3b:00.0");
  EXPECT_EQ(gpu.compute_capability, (ComputeCapability{8, 0}));
  EXPECT_THAT(gpu.device_nodes, ElementsAre("/dev/nvidia0"));
  EXPECT_THAT(file.unhealthy, ElementsAre(Pair("GPU-1", "fan broken")));
  EXPECT_TRUE(file.inventory.gpus()[2].mig_enabled);
  EXPECT_EQ(file.inventory.gpus()[2].mig_devices[0].profile, "1g.10gb");
  EXPECT_EQ(file.inventory.gpus()[2].mig_devices[0].device_nodes,
            std::vector<std::string>{"/dev/nvidia-caps/nvidia-cap3"});
  EXPECT_EQ(file.inventory.link(0, 1).nvlinks, 12);
  EXPECT_EQ(file.inventory.link(2, 0), (GpuLink{PciPath::kSingleSwitch, 0}));
  EXPECT_EQ(file.inventory.driver_version, "550.54");
  EXPECT_EQ(file.inventory.cuda_version, "12.4");
  EXPECT_THAT(file.inventory.shared_device_nodes, ElementsAre("/dev/nvidiactl"));
}

TEST(InventoryFileTest, AMachineWithoutGpusIsAnInventory) {
  EXPECT_TRUE(ReadInventory("").inventory.gpus().empty());
  EXPECT_TRUE(ReadInventory("gpus: []").inventory.gpus().empty());
}

TEST(InventoryFileTest, ErrorsNameLineAndField) {
  EXPECT_THAT(InventoryError("gpus:\n- {uuid: a, product: x, colour: red}"),
              StartsWith("gpus.yaml:2: gpus.colour"));
  EXPECT_THAT(InventoryError("gpus: [{uuid: a}]"), HasSubstr("needs uuid and product"));
  EXPECT_THAT(InventoryError("gpus: 7"), HasSubstr("expected a list"));
  EXPECT_THAT(InventoryError("gpus: [{uuid: a, product: x}, {uuid: a, product: x}]"),
              HasSubstr("occurs twice"));
  EXPECT_THAT(InventoryError("gpus: [{uuid: \"a b\", product: x}]"), HasSubstr("an id has"));
  EXPECT_THAT(InventoryError("gpus: [{uuid: " + std::string(64, 'a') + ", product: x}]"),
              HasSubstr("an id has 1 to 63"));
  EXPECT_THAT(InventoryError("gpus: [{uuid: a, product: x, deviceNodes: [dev]}]"),
              HasSubstr("absolute paths"));
  EXPECT_THAT(InventoryError("gpus: [{uuid: a, product: x}]\nlinks: [{between: [a, b]}]"),
              HasSubstr("no such GPU"));
  EXPECT_THAT(InventoryError("gpus: [{uuid: a, product: x}]\nlinks: [{between: [a, a]}]"),
              HasSubstr("two different"));
  EXPECT_THAT(InventoryError("gpus: [{uuid: a, product: x"), StartsWith("gpus.yaml:"));
}

TEST(InventoryFileTest, AFileWithoutEndIsRefusedBeforeItIsParsed) {
  EXPECT_THAT(InventoryError(std::string(2 << 20, '#')), HasSubstr("too long"));
  std::string many = "gpus:\n";
  for (int i = 0; i < 65; ++i) many += "- {uuid: g" + std::to_string(i) + ", product: x}\n";
  EXPECT_THAT(InventoryError(many), HasSubstr("more than 64"));
}

}  // namespace
}  // namespace synergy::testing
