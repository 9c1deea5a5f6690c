#include "inventory/gpu.h"

#include <gtest/gtest.h>

#include "unit/inventory/inventory_fixture.h"

namespace synergy::testing {
namespace {

TEST(GpuTest, PathsAreNamedAndRead) {
  for (const PciPath path : kPciPaths) EXPECT_EQ(ParsePciPath(ToString(path)).value(), path);
  EXPECT_FALSE(ParsePciPath("nvlink"));
}

TEST(GpuTest, ABetterPathIsWorthMoreAndNvLinkMost) {
  int before = 0;
  for (const PciPath path : kPciPaths) {
    EXPECT_GT(Worth({path, 0}), before) << ToString(path);
    before = Worth({path, 0});
  }
  EXPECT_GT(Worth({PciPath::kSystem, 1}), before);
  EXPECT_EQ(Worth({PciPath::kSystem, 12}), 12 * Worth({PciPath::kNode, 1}));
}

TEST(GpuTest, LinksFollowTheNumaNodesUntilSetBothWays) {
  GpuInventory inventory(MakeGpus(4, 2));
  EXPECT_EQ(inventory.link(0, 1), (GpuLink{PciPath::kNode, 0}));
  EXPECT_EQ(inventory.link(0, 2), (GpuLink{PciPath::kSystem, 0}));
  inventory.SetLink(0, 2, {PciPath::kSystem, 4});
  EXPECT_EQ(inventory.link(2, 0).nvlinks, 4);
}

TEST(GpuTest, GpusAreFoundByUuid) {
  const GpuInventory inventory(MakeGpus(4, 2));
  EXPECT_EQ(inventory.Find("GPU-2"), 2U);
  EXPECT_FALSE(inventory.Find("GPU-4"));
}

TEST(GpuTest, ComputeCapabilitiesAreTwoNumbers) {
  EXPECT_EQ(ParseComputeCapability("9.0"), (ComputeCapability{9, 0}));
  EXPECT_EQ(ToText(ComputeCapability{8, 6}), "8.6");
  for (const char* wrong : {"", "8", "8.", ".6", "8.6.1", "a.b", "8,6"})
    EXPECT_FALSE(ParseComputeCapability(wrong)) << wrong;
}

}  // namespace
}  // namespace synergy::testing
