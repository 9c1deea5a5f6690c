#include "deviceplugin/cdi_file.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "config/text_file.h"
#include "support/temporary_folder.h"
#include "unit/inventory/inventory_fixture.h"

namespace synergy::testing {
namespace {

using deviceplugin::CdiFile;

TEST(CdiFileTest, TheSpecificationNamesEveryGpuAndGoesWithItsWriter) {
  const TemporaryFolder folder;
  GpuInventory inventory(MakeGpus(2, 1));
  inventory.shared_device_nodes = {"/dev/nvidiactl"};
  const std::string file = folder.Path("cdi/synergy.io-gpu.json");
  {
    CdiFile cdi(folder.Path("cdi"), "synergy.io/gpu");
    EXPECT_FALSE(std::filesystem::exists(file));
    ASSERT_TRUE(cdi.Write(inventory));
    EXPECT_EQ(
        config::ReadTextFile(file).value(),
        R"({"cdiVersion":"0.5.0","kind":"synergy.io/gpu","devices":[)"
        R"({"name":"GPU-0","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia0"},{"path":"/dev/nvidiactl"}]}},)"
        R"({"name":"GPU-1","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia1"},{"path":"/dev/nvidiactl"}]}}]})");
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(CdiFileTest, AFolderThatCannotBeWrittenIsAnErrorThatNamesIt) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("a-file", "");
  CdiFile cdi(file, "synergy.io/gpu");
  const Result<> written = cdi.Write(GpuInventory());
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find(file), std::string::npos);
}

TEST(CdiFileTest, WhatAnotherProgramWroteIsLeftWhenWeWroteNothing) {
  const TemporaryFolder folder;
  const std::string file = folder.Write("synergy.io-gpu.json", "{}");
  {
    CdiFile cdi(folder.Path("."), "synergy.io/gpu");
  }
  EXPECT_TRUE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace synergy::testing
