#include "deviceplugin/node/busy_writer.h"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/text_file.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"
#include "wire/agents/gpu_busy.h"

namespace synergy::testing {
namespace {

using deviceplugin::BusyWriter;
using deviceplugin::DeviceUse;
using std::chrono::seconds;
using ::testing::ElementsAre;

class BusyWriterTest : public ::testing::Test {
 protected:
  void Run(int looks) {
    for (int i = 0; i < looks; ++i) {
      clock.Advance(seconds(1));
      writer.Step();
    }
  }
  NodeBusy Read() {
    const auto text = config::ReadTextFile(file);
    EXPECT_TRUE(text) << text.error().message;
    const auto busy = wire::ReadNodeBusy(text.value_or("{}"));
    EXPECT_TRUE(busy) << busy.error().message;
    return busy.value_or(NodeBusy{});
  }

  TemporaryFolder folder;
  const std::string file = folder.Path("run/busy.json");
  FakeClock clock;
  SilentLog log;
  std::map<std::string, DeviceUse> uses = {{"GPU-0", {.utilization = 0.5}},
                                           {"GPU-1", {.utilization = 1.0}},
                                           {"GPU-2", {.utilization = 0.25}},
                                           {"GPU-3", {}}};
  Result<std::vector<DeviceOwner>> owners =
      std::vector<DeviceOwner>{{"nvidia.com/gpu", "GPU-0", "team", "pair", "main"},
                               {"nvidia.com/gpu", "GPU-1", "team", "pair", "main"},
                               {"nvidia.com/gpu", "GPU-2", "team", "single", "main"},
                               {"nvidia.com/gpu", "GPU-3", "team", "unknown", "main"},
                               {"nvidia.com/gpu", "GPU-2", "team", "half", "main"},
                               {"nvidia.com/gpu", "MIG-7", "team", "half", "main"}};
  BusyWriter writer{file, [this] { return uses; }, [this] { return owners; }, clock, log.log};
};

TEST_F(BusyWriterTest, WritesTheMeanOfTheGpusOfAContainer) {
  Run(1);
  const WallTime first = clock.WallNow();
  Run(8);
  const NodeBusy busy = Read();
  EXPECT_EQ(busy.at, clock.WallNow());
  // For the others, some value is unknown.
  ASSERT_EQ(busy.containers.size(), 2U);
  EXPECT_EQ(busy.containers[0].pod_namespace, "team");
  EXPECT_EQ(busy.containers[0].pod, "pair");
  EXPECT_EQ(busy.containers[0].container, "main");
  EXPECT_NEAR(busy.containers[0].seconds, 8 * 0.75, 1e-9);
  EXPECT_EQ(busy.containers[0].since, first);
  EXPECT_EQ(busy.containers[1].pod, "single");
  EXPECT_NEAR(busy.containers[1].seconds, 2, 1e-9);
}

TEST_F(BusyWriterTest, FileAgesIfTheGpuOwnersAreUnknown) {
  Run(3);
  const NodeBusy before = Read();
  owners = Fail(ErrorCode::kUnavailable, "the kubelet does not answer");
  Run(6);
  EXPECT_EQ(Read(), before);
}

TEST_F(BusyWriterTest, ReportsXidsOfTheContainersThatHadTheGpu) {
  Run(1);
  writer.SeeXid({.uuid = "GPU-1", .xid = 79, .mig_uuids = {}});
  const WallTime lost = clock.WallNow();
  owners = std::vector<DeviceOwner>{{"nvidia.com/gpu", "MIG-7", "team", "half", "main"}};
  Run(2);
  const ContainerXid of_pair{"team", "pair", "main", 79, lost};
  EXPECT_THAT(Read().xids, ElementsAre(of_pair)) << "it ended the container";
  writer.SeeXid({.uuid = "GPU-2", .xid = 43, .mig_uuids = {"MIG-7"}});
  Run(2);
  EXPECT_THAT(Read().xids,
              ElementsAre(of_pair, ContainerXid{"team", "half", "main", 43, lost + seconds(2)}));
}

TEST_F(BusyWriterTest, LeavesNothingHalfDoneAndTriesAgain) {
  Run(1);
  EXPECT_FALSE(std::filesystem::exists(file + ".unfinished"));
  std::filesystem::remove_all(folder.Path("run"));
  std::filesystem::create_directories(file);  // a folder has the file's name
  Run(4);
  std::filesystem::remove_all(file);
  Run(2);
  EXPECT_EQ(Read().containers.size(), 2U);
}

}  // namespace
}  // namespace synergy::testing
