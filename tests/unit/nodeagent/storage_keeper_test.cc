#include "nodeagent/cgroups/storage/storage_keeper.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/silent_log.h"
#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

using std::chrono::seconds;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;
using ::testing::SizeIs;

// Tests a node whose pods read from the disk vdb. Its control groups are files.
class StorageKeeperTest : public ::testing::Test {
 protected:
  StorageKeeperTest() {
    fs::create_directories(folder_.Path("sys/dev/block"));
    fs::create_directories(folder_.Path("sys/devices/vdb"));
    fs::create_directory_symlink("../../devices/vdb", folder_.Path("sys/dev/block/254:16"));
    pods_.Replace({Pod("a", true), Pod("other", false)});
  }

  static wire::ResizeStatus Pod(const std::string& name, bool managed) {
    wire::ResizeStatus pod;
    pod.uid = "uid" + name;
    pod.pod_namespace = "team";
    pod.name = name;
    pod.qos_class = wire::QosClass::kBurstable;
    pod.containers.push_back({"train", "containerd://" + name, {}, {}});
    ManagedContainer fungible;
    fungible.container = "train";
    if (managed) pod.fungible = std::make_shared<const ManagedContainer>(fungible);
    return pod;
  }
  std::string Group(const std::string& name) {
    return folder_.Path(fmt::format("cgroup/kubepods/burstable/poduid{0}/{0}", name));
  }
  static void Put(const std::string& file, const std::string& text) {
    fs::create_directories(fs::path(file).parent_path());
    std::ofstream(file) << text;
  }
  void SetV2(const std::string& name, int64_t read, int64_t waited_us) {
    Put(Group(name) + "/io.stat", fmt::format("254:16 rbytes={} wbytes=0 rios=9 wios=0\n", read));
    Put(Group(name) + "/io.pressure",
        fmt::format("some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n", waited_us));
    Put(folder_.Path("cgroup/kubepods/io.stat"),
        fmt::format("254:16 rbytes={} wbytes=0 rios=9 wios=0\n", 2 * read));
  }
  std::unique_ptr<StorageKeeper> Make() {
    return std::make_unique<StorageKeeper>(
        pods_, KernelFolders{folder_.Path("cgroup"), folder_.Path("proc"), folder_.Path("sys")},
        "/", nullptr, clock_, log_, metrics_);
  }
  void Look(StorageKeeper& keeper) {
    clock_.Advance(StorageKeeper::kInterval);
    keeper.Look();
  }

  testing::TemporaryFolder folder_;
  testing::FakeClock clock_;
  testing::SilentSink sink_;
  Logger log_{sink_, clock_, LogLevel::kDebug, LogFormat::kText};
  metrics::NodeAgentMetrics metrics_;
  NodePods pods_;
};

TEST_F(StorageKeeperTest, MeasuresManagedPodsAndTheirDisk) {
  const auto keeper = Make();
  for (int look = 0; look <= 4; ++look) {
    SetV2("a", 100'000'000 * look, 4'000'000 * look);
    SetV2("other", 100'000'000 * look, 9'000'000 * look);
    Look(*keeper);
  }
  ASSERT_THAT(keeper->Uses(), SizeIs(1));
  const StorageUse use = keeper->Uses().at("uida");
  EXPECT_EQ(use.backend, "vdb");
  EXPECT_THAT(use.read, Optional(DoubleNear(1e7, 1)));
  EXPECT_THAT(use.waited, Optional(DoubleNear(0.4, 1e-6)));
  EXPECT_THAT(use.all, Optional(DoubleNear(2e7, 1)));
  EXPECT_THAT(use.bandwidth, Optional(DoubleNear(2e7, 1)));
  const metrics::StorageGauges gauges = keeper->Gauges();
  ASSERT_THAT(gauges.disks, SizeIs(1));
  EXPECT_EQ(gauges.disks[0].device, "vdb");
  EXPECT_EQ(gauges.disks[0].read, 8e8);
  EXPECT_EQ(gauges.disks[0].waited, seconds(16));
  ASSERT_THAT(gauges.pods, SizeIs(1));
  EXPECT_EQ(gauges.pods[0].pod, "a");
  EXPECT_EQ(gauges.pods[0].read, 4e8);
}

TEST_F(StorageKeeperTest, ReadsOfTheNetworkAreThoseThatNoDiskDelivered) {
  const auto keeper = Make();
  Put(Group("a") + "/cgroup.procs", "11\n");
  for (int look = 0; look < 2; ++look) {
    SetV2("a", 1000, 3'000'000 * look);
    Put(folder_.Path("proc/11/io"), fmt::format("rchar: 9\nread_bytes: {}\n", 50'000'000 * look));
    Look(*keeper);
  }
  const StorageUse use = keeper->Uses().at("uida");
  EXPECT_EQ(use.backend, kNetworkStorage);
  EXPECT_THAT(use.read, Optional(DoubleNear(5e6, 1)));
}

TEST_F(StorageKeeperTest, ControlGroupsV1HaveNoWaits) {
  constexpr const char* kThrottledReads = "blkio.throttle.io_service_bytes_recursive";
  const std::string hierarchy = folder_.Path("cgroup/blkio/");
  Put(hierarchy + kThrottledReads, "Total 0\n");
  const auto keeper = Make();
  for (int look = 0; look < 5; ++look) {
    const std::string text =
        fmt::format("254:16 Read {0}\n254:16 Write 0\nTotal {0}\n", 30'000'000 * look);
    Put(hierarchy + "kubepods/" + kThrottledReads, text);
    Put(hierarchy + "kubepods/burstable/poduida/a/" + kThrottledReads, text);
    Look(*keeper);
  }
  const StorageUse use = keeper->Uses().at("uida");
  EXPECT_EQ(use.backend, "vdb");
  EXPECT_THAT(use.read, Optional(DoubleNear(3e6, 1)));
  EXPECT_EQ(use.waited, std::nullopt);
  EXPECT_EQ(use.bandwidth, std::nullopt);
  EXPECT_EQ(keeper->Gauges().disks[0].waited, std::nullopt);
}

TEST_F(StorageKeeperTest, UnreadableCountersAreCounted) {
  const auto keeper = Make();
  Look(*keeper);
  Look(*keeper);
  EXPECT_THAT(keeper->Uses(), IsEmpty());
  EXPECT_THAT(metrics_.Render(),
              HasSubstr(R"(synergy_node_agent_errors_total{reason="io_unreadable"} 2)"));
  // Without the container's file, only the node's figures are known.
  SetV2("other", 1000, 0);
  Look(*keeper);
  EXPECT_THAT(keeper->Gauges().disks, Not(IsEmpty()));
  EXPECT_THAT(keeper->Gauges().pods, IsEmpty());
  fs::remove_all(folder_.Path("cgroup"));
  Look(*keeper);
  EXPECT_THAT(keeper->Gauges().disks, IsEmpty()) << "nothing is shown that is out of date";
}

}  // namespace
}  // namespace synergy::nodeagent
