#include "nodeagent/memory/data_use.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

TEST(ProcessReadsTest, ParsesTheKernelsCounters) {
  const auto reads = ParseProcessReads(
      "rchar: 134217728\nwchar: 9\nsyscr: 130\nsyscw: 1\nread_bytes: 67108864\n"
      "write_bytes: 4096\ncancelled_write_bytes: 0\n");
  ASSERT_TRUE(reads);
  EXPECT_EQ(reads->read, 134217728);
  EXPECT_EQ(reads->fetched, 67108864);
  EXPECT_FALSE(ParseProcessReads(""));
  EXPECT_FALSE(ParseProcessReads("rchar: many\nread_bytes: 1\n"));
  EXPECT_FALSE(ParseProcessReads("rchar: 1\ncancelled_read_bytes: 1\n"));
}

class GroupReadsTest : public ::testing::Test {
 protected:
  GroupReadsTest() { fs::create_directory(group_); }
  void SetProcesses(const std::string& text) { std::ofstream(group_ + "/cgroup.procs") << text; }
  void SetReads(int process, int64_t read, int64_t fetched) {
    fs::create_directory(folder_.Path(fmt::format("{}", process)));
    std::ofstream(folder_.Path(fmt::format("{}/io", process)))
        << fmt::format("rchar: {}\nwchar: 0\nread_bytes: {}\n", read, fetched);
  }
  void End(int process) { fs::remove_all(folder_.Path(fmt::format("{}", process))); }
  double Read() { return reads_.Of(group_).value_or(ReadTotals{-1, -1}).read; }

  testing::TemporaryFolder folder_;
  const std::string group_ = folder_.Path("group");
  GroupReads reads_{folder_.Path("")};
};

TEST_F(GroupReadsTest, AreTheSumOverTheProcesses) {
  SetProcesses("12\n11\n");
  SetReads(11, 100, 60);
  SetReads(12, 30, 5);
  const auto reads = reads_.Of(group_);
  ASSERT_TRUE(reads);
  EXPECT_EQ(reads->read, 130);
  EXPECT_EQ(reads->fetched, 65);
}

TEST_F(GroupReadsTest, EndedWorkerCountsOnceWithItsParent) {
  SetProcesses("11\n12\n");
  SetReads(11, 100, 0);
  SetReads(12, 30, 0);
  EXPECT_EQ(Read(), 130);
  // The processes have not waited for storage yet.
  SetProcesses("11\n");
  End(12);
  EXPECT_EQ(Read(), 130);
  SetReads(11, 135, 0);
  EXPECT_EQ(Read(), 135);
}

TEST_F(GroupReadsTest, ReadsOfAnUnreapedWorkerAreNotLost) {
  SetProcesses("11\n12\n");
  SetReads(11, 100, 10);
  SetReads(12, 1000, 10);
  EXPECT_EQ(Read(), 1100);
  SetProcesses("11\n");
  End(12);
  for (int look = 0; look < 3; ++look) {
    SetReads(11, 101 + look, 10);
    EXPECT_EQ(Read(), 1100);
  }
  SetReads(11, 113, 10);
  EXPECT_EQ(Read(), 1110) << "it goes on from there";
}

TEST_F(GroupReadsTest, UnreadableGroupHasNoReading) {
  EXPECT_EQ(Read(), -1) << "the group is gone";
  SetProcesses("");
  EXPECT_EQ(Read(), -1) << "nobody is in it";
  SetProcesses("0\n0\n");
  EXPECT_EQ(Read(), -1) << "an agent with process ids of its own";
  SetProcesses("11\n");
  EXPECT_EQ(Read(), -1) << "it has just ended";
  std::string many;
  for (size_t process = 1; process <= kMostProcesses + 1; ++process)
    many += fmt::format("{}\n", process);
  SetReads(1, 5, 5);
  SetProcesses(many);
  EXPECT_EQ(Read(), -1);
}

TEST(KernelDataUseTest, ReportsAllOrNothing) {
  const testing::TemporaryFolder folder;
  const std::string hierarchy = folder.Path("cgroup");
  const std::string group = hierarchy + "/kubepods/burstable/pod7d1/90d9";
  fs::create_directories(group);
  const auto put = [](const std::string& file, const std::string& text) {
    std::ofstream(file) << text;
  };
  put(hierarchy + "/cgroup.controllers", "cpu memory\n");
  put(group + "/memory.current", "9000\n");
  put(group + "/memory.stat",
      "anon 1000\nshmem 200\nfile_mapped 50\nfile_dirty 0\nfile_writeback 0\n"
      "active_file 3000\ninactive_file 4000\n");
  put(group + "/cgroup.procs", "11\n");
  put(group + "/io.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1500\n");
  const auto groups = FindMemoryGroups(hierarchy, "/");
  ASSERT_TRUE(groups);
  KernelDataUse data(**groups, MemoryHierarchy(hierarchy), "/", folder.Path(""));
  wire::ResizeStatus pod;
  pod.uid = "7d1";
  pod.qos_class = wire::QosClass::kBurstable;
  pod.containers.push_back({"train", "containerd://90d9", {}, {}});
  EXPECT_FALSE(data.Read(pod, pod.containers.front())) << "its reads cannot be seen";

  fs::create_directory(folder.Path("11"));
  put(folder.Path("11/io"), "rchar: 100\nread_bytes: 60\n");
  const auto use = data.Read(pod, pod.containers.front());
  ASSERT_TRUE(use);
  EXPECT_EQ(use->process, Bytes(1250));
  EXPECT_EQ(use->cache, Bytes(6950));
  EXPECT_EQ(use->read, 100);
  EXPECT_EQ(use->fetched, 60);
  EXPECT_EQ(use->starved, std::chrono::microseconds(1500));

  fs::remove(group + "/io.pressure");
  EXPECT_EQ(data.Read(pod, pod.containers.front())->starved, std::nullopt);
  fs::remove(group + "/memory.stat");
  EXPECT_FALSE(data.Read(pod, pod.containers.front()));
}

}  // namespace
}  // namespace synergy::nodeagent
