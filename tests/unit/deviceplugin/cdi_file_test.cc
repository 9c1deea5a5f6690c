#include "deviceplugin/plugin/cdi_file.h"

#include <chrono>
#include <filesystem>

#include <gtest/gtest.h>

#include "config/text_file.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"
#include "unit/inventory/inventory_fixture.h"

namespace synergy::testing {
namespace {

using deviceplugin::CdiFile;

constexpr char kKind[] = "synergy.io/gpu";
constexpr char kPlain[] =
    R"({"cdiVersion":"0.5.0","kind":"synergy.io/gpu","devices":[)"
    R"({"name":"GPU-0","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia0"},{"path":"/dev/nvidiactl"}]}},)"
    R"({"name":"GPU-1","containerEdits":{"deviceNodes":[{"path":"/dev/nvidia1"},{"path":"/dev/nvidiactl"}]}}]})";
// Written by nvidia-ctk, except for the contents of the edits.
constexpr char kComplete[] =
    R"({"cdiVersion": "0.5.0", "kind": "synergy.io/gpu", "devices": [{"name": "GPU-1", "containerEdits": {}},)"
    R"( {"name": "GPU-0", "containerEdits": {}}], "containerEdits": {"mounts": []}})";

class CdiFileTest : public ::testing::Test {
 protected:
  CdiFileTest() : inventory_(MakeGpus(2, 1)) {
    inventory_.shared_device_nodes = {"/dev/nvidiactl"};
  }

  CdiFile Make(std::vector<std::string> command = {}) {
    return {folder_.Path("cdi"), kKind, std::move(command), clock_, log_.log};
  }
  // A stand-in for nvidia-ctk: a shell script.
  std::vector<std::string> Script(const std::string& text) {
    return {"sh", folder_.Write("nvidia-ctk", text)};
  }
  std::string Text() const { return config::ReadTextFile(file_).value_or("no file"); }

  TemporaryFolder folder_;
  const std::string file_ = folder_.Path("cdi/synergy.io-gpu.json");
  FakeClock clock_;
  SilentLog log_;
  GpuInventory inventory_;
};

TEST_F(CdiFileTest, TheSpecificationNamesEveryGpuAndOutlivesItsWriter) {
  {
    CdiFile cdi = Make();
    EXPECT_FALSE(std::filesystem::exists(file_));
    ASSERT_TRUE(cdi.Write(inventory_));
    EXPECT_EQ(Text(), kPlain);
  }
  EXPECT_EQ(Text(), kPlain);
}

TEST_F(CdiFileTest, RestoresARemovedOrChangedFile) {
  CdiFile cdi = Make();
  ASSERT_TRUE(cdi.Write(inventory_));
  std::filesystem::remove(file_);
  ASSERT_TRUE(cdi.Write(inventory_));
  EXPECT_EQ(Text(), kPlain);
  folder_.Write("cdi/synergy.io-gpu.json", "{}");
  ASSERT_TRUE(cdi.Write(inventory_));
  EXPECT_EQ(Text(), kPlain);
}

TEST_F(CdiFileTest, MigDevicesAreThereInPlaceOfTheirGpu) {
  std::vector<Gpu> gpus = MakeGpus(1, 1);
  gpus[0].mig_enabled = true;
  gpus[0].mig_devices = {{"MIG-0", "1g.10gb", GiB(10), {"/dev/nvidia-caps/nvidia-cap66"}},
                         {"MIG-1", "1g.10gb", GiB(10), {}}};
  CdiFile cdi = Make();
  ASSERT_TRUE(cdi.Write(GpuInventory(gpus)));
  EXPECT_EQ(
      Text(),
      R"({"cdiVersion":"0.5.0","kind":"synergy.io/gpu","devices":[{"name":"MIG-0","containerEdits":)"
      R"({"deviceNodes":[{"path":"/dev/nvidia0"},{"path":"/dev/nvidia-caps/nvidia-cap66"}]}}]})");
}

TEST_F(CdiFileTest, NvidiasProgramWritesItWhereItIs) {
  const std::string asked = folder_.Path("asked");
  CdiFile cdi = Make(
      Script("echo \"$@\" >> " + asked + "\ncat <<'END'\n" + std::string(kComplete) + "\nEND"));
  ASSERT_TRUE(cdi.Write(inventory_));
  EXPECT_EQ(Text(), std::string(kComplete) + "\n");
  ASSERT_TRUE(cdi.Write(inventory_));
  EXPECT_EQ(
      config::ReadTextFile(asked).value(),
      "cdi generate --format json --device-name-strategy uuid --vendor synergy.io --class gpu\n")
      << "once for the same devices";
}

TEST_F(CdiFileTest, UsesTheOutputOfNvidiaCtkOnlyIfComplete) {
  for (const std::string text :
       {"echo '{\"kind\":\"synergy.io/gpu\",\"devices\":[{\"name\":\"GPU-0\"}]}'",
        "echo "
        "'{\"kind\":\"nvidia.com/gpu\",\"devices\":[{\"name\":\"GPU-0\"},{\"name\":\"GPU-1\"}]}'",
        "echo no JSON", "exit 1"}) {
    CdiFile cdi = Make(Script(text));
    ASSERT_TRUE(cdi.Write(inventory_));
    EXPECT_EQ(Text(), kPlain) << text;
  }
  CdiFile cdi = Make({"no-such-nvidia-ctk"});
  ASSERT_TRUE(cdi.Write(inventory_));
  EXPECT_EQ(Text(), kPlain);
}

TEST_F(CdiFileTest, NvidiasProgramIsTriedAgainAfterAFailure) {
  CdiFile cdi = Make(Script("exit 1"));
  ASSERT_TRUE(cdi.Write(inventory_));
  EXPECT_EQ(Text(), kPlain);
  Script("cat <<'END'\n" + std::string(kComplete) + "\nEND");
  ASSERT_TRUE(cdi.Write(inventory_));
  EXPECT_EQ(Text(), kPlain) << "not at once";
  clock_.Advance(std::chrono::minutes(2));
  ASSERT_TRUE(cdi.Write(inventory_));
  EXPECT_EQ(Text(), std::string(kComplete) + "\n");
}

TEST_F(CdiFileTest, AFailureAfterARestartLeavesACompleteFile) {
  const auto works = Script("cat <<'END'\n" + std::string(kComplete) + "\nEND");
  ASSERT_TRUE(Make(works).Write(inventory_));
  ASSERT_EQ(Text(), std::string(kComplete) + "\n");
  CdiFile next = Make(Script("exit 1"));
  ASSERT_TRUE(next.Write(inventory_));
  EXPECT_EQ(Text(), std::string(kComplete) + "\n");
  ASSERT_TRUE(next.Write(GpuInventory(MakeGpus(3, 1))));
  EXPECT_EQ(Text().find("mounts"), std::string::npos) << "it lacks a GPU";
}

TEST_F(CdiFileTest, AFolderThatCannotBeWrittenIsAnErrorThatNamesIt) {
  const std::string file = folder_.Write("a-file", "");
  CdiFile cdi(file, kKind, {}, clock_, log_.log);
  const Result<> written = cdi.Write(GpuInventory());
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find(file), std::string::npos);
}

TEST_F(CdiFileTest, LeavesTheFileOfAnotherProgramIfItWroteNone) {
  const std::string file = folder_.Write("synergy.io-gpu.json", "{}");
  {
    CdiFile cdi(folder_.Path("."), kKind, {}, clock_, log_.log);
  }
  EXPECT_TRUE(std::filesystem::exists(file));
}

}  // namespace
}  // namespace synergy::testing
