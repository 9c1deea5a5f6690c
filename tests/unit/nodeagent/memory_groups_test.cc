// Uses folders that look like the kernel's. tests/cluster tests the kernel's own reaction to
// writes.

#include "nodeagent/memory/memory_groups.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodeagent/memory/v1_memory_group.h"
#include "nodeagent/memory/v2_memory_group.h"
#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

using synergy::testing::TemporaryFolder;
using ::testing::HasSubstr;

wire::ResizeStatus TrainingPod() {
  wire::ResizeStatus pod;
  pod.uid = "1a-2b";
  pod.qos_class = wire::QosClass::kBurstable;
  pod.containers.push_back({"train", "containerd://90d9", {}, {}});
  return pod;
}

class MemoryGroupsTest : public ::testing::Test {
 protected:
  // Adds a control group of v1 that uses 180 MiB, 20 of which cannot be reclaimed.
  void AddV1(const std::string& folder) {
    Add("memory/" + folder, {{"memory.usage_in_bytes", "188743680\n"},
                             {"memory.limit_in_bytes", "209715200\n"},
                             {"memory.stat", "total_rss 20971520\ntotal_shmem 0\n"},
                             {"memory.force_empty", ""}});
  }
  void AddV2(const std::string& folder) {
    Write("cgroup.controllers", "cpu memory pids\n");
    Add(folder, {{"memory.current", "188743680\n"},
                 {"memory.max", "max\n"},
                 {"memory.stat", "anon 20971520\nshmem 0\n"},
                 {"memory.reclaim", ""}});
  }
  void Add(const std::string& folder,
           const std::vector<std::pair<std::string, std::string>>& files) {
    for (const auto& [name, text] : files) Write(folder + "/" + name, text);
  }
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_.Path(name)).parent_path());
    std::ofstream(folder_.Path(name)) << text;
  }
  std::string ReadBack(const std::string& name) {
    std::stringstream text;
    text << std::ifstream(folder_.Path(name)).rdbuf();
    return text.str();
  }
  std::unique_ptr<MemoryGroups> Groups() {
    auto groups = FindMemoryGroups(folder_.Path(""), "/");
    EXPECT_TRUE(groups) << groups.error().message;
    return groups ? *std::move(groups) : nullptr;
  }

  TemporaryFolder folder_;
  wire::ResizeStatus pod_ = TrainingPod();
};

TEST_F(MemoryGroupsTest, V1IsFoundReadAndEmptied) {
  AddV1(".");
  AddV1("kubepods/burstable/pod1a-2b");
  AddV1("kubepods/burstable/pod1a-2b/90d9");
  const auto groups = Groups();
  auto container = groups->OfContainer(pod_, pod_.containers[0]);
  ASSERT_TRUE(container) << container.error().message;
  EXPECT_EQ((*container)->Read()->usage, MiB(180));
  EXPECT_EQ((*container)->Read()->held, MiB(20));
  EXPECT_EQ(*(*container)->Limit(), MiB(200));
  ASSERT_TRUE((*container)->Release(MiB(90), {}));
  EXPECT_EQ(ReadBack("memory/kubepods/burstable/pod1a-2b/90d9/memory.force_empty"), "0");
  EXPECT_EQ(ReadBack("memory/kubepods/burstable/pod1a-2b/memory.force_empty"), "");
  ASSERT_TRUE(groups->OfPod(pod_));
}

TEST_F(MemoryGroupsTest, NothingIsWrittenWhereThereIsNothingToRelease) {
  AddV1(".");
  AddV1("kubepods/burstable/pod1a-2b");
  auto group = Groups()->OfPod(pod_);
  ASSERT_TRUE(group);
  ASSERT_TRUE((*group)->Release(MiB(180), {}));
  EXPECT_EQ(ReadBack("memory/kubepods/burstable/pod1a-2b/memory.force_empty"), "");
}

TEST_F(MemoryGroupsTest, V2IsAskedForBytesInSteps) {
  AddV2("kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a_2b.slice");
  const std::string folder =
      "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a_2b.slice/"
      "cri-containerd-90d9.scope";
  AddV2(folder);
  auto container = Groups()->OfContainer(pod_, pod_.containers[0]);
  ASSERT_TRUE(container) << container.error().message;
  EXPECT_EQ((*container)->Read()->held, MiB(20));
  EXPECT_EQ(*(*container)->Limit(), kNoMemoryLimit);
  // The usage in this file does not change, so the call gives up.
  ASSERT_TRUE((*container)->Release(MiB(90), {}));
  EXPECT_EQ(ReadBack(folder + "/memory.reclaim"), std::to_string(MiB(64).count()));
  Write(folder + "/memory.reclaim", "");
  ASSERT_TRUE((*container)->Release(MiB(179), {}));
  EXPECT_EQ(ReadBack(folder + "/memory.reclaim"), std::to_string(MiB(1).count()));
}

TEST_F(MemoryGroupsTest, TheRuntimesMonitorBesideItIsNotTheContainer) {
  const std::string pod =
      "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a_2b.slice";
  AddV2(pod);
  AddV2(pod + "/crio-conmon-90d9.scope");
  EXPECT_FALSE(Groups()->OfContainer(pod_, pod_.containers[0]));
  AddV2(pod + "/crio-90d9.scope");
  Write(pod + "/crio-90d9.scope/memory.max", "1048576\n");
  auto container = Groups()->OfContainer(pod_, pod_.containers[0]);
  ASSERT_TRUE(container) << container.error().message;
  EXPECT_EQ(*(*container)->Limit(), MiB(1));
}

TEST_F(MemoryGroupsTest, AKernelWithoutMemoryReclaimIsAnError) {
  AddV2("kubepods/burstable/pod1a-2b");
  std::filesystem::remove(folder_.Path("kubepods/burstable/pod1a-2b/memory.reclaim"));
  auto group = Groups()->OfPod(pod_);
  ASSERT_TRUE(group);
  const Result<> released = (*group)->Release(MiB(90), {});
  ASSERT_FALSE(released);
  EXPECT_EQ(released.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(released.error().message, HasSubstr("memory.reclaim"));
}

constexpr const char* kWholeStat =
    "anon 20971520\nshmem 0\nfile_mapped 0\nfile_dirty 0\nfile_writeback 0\n"
    "inactive_file 125829120\nactive_file 41943040\nworkingset_refault_file 0\n";

// With swap, anonymous memory could be reclaimed, too.
TEST_F(MemoryGroupsTest, V2SparesAnonymousMemoryWhereThereIsSwap) {
  Add("group", {{"memory.reclaim", ""}, {"memory.swap.max", "max\n"}});
  Write("proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 8388604 0 -2\n");
  V2MemoryGroup group(folder_.Path("group"), folder_.Path("proc"));
  EXPECT_EQ(group.Drop(MiB(1)), true);
  EXPECT_EQ(ReadBack("group/memory.reclaim"), "1048576 swappiness=0");
  // The file is not available for this group.
  Write("group/memory.reclaim", "");
  Write("group/memory.swap.max", "0\n");
  EXPECT_EQ(group.Drop(MiB(1)), true);
  EXPECT_EQ(ReadBack("group/memory.reclaim"), "1048576");
  // The file is not available on this node.
  Write("group/memory.reclaim", "");
  Write("group/memory.swap.max", "max\n");
  Write("proc/swaps", "Filename Type Size Used Priority\n");
  EXPECT_EQ(group.Drop(MiB(1)), true);
  EXPECT_EQ(ReadBack("group/memory.reclaim"), "1048576");
}

TEST_F(MemoryGroupsTest, V2IsSampledWithOrWithoutWhatNewerKernelsHave) {
  Add("group", {{"memory.current", "188743680\n"},
                {"memory.stat", kWholeStat},
                {"memory.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n"},
                {"memory.reclaim", ""}});
  V2MemoryGroup group(folder_.Path("group"), folder_.Path("proc"));
  const auto sample = group.Sample();
  ASSERT_TRUE(sample) << sample.error().message;
  EXPECT_TRUE(sample->cache_can_be_released);
  EXPECT_EQ(sample->InUse(), MiB(20));
  EXPECT_TRUE(sample->stalled);
  std::filesystem::remove(folder_.Path("group/memory.reclaim"));
  std::filesystem::remove(folder_.Path("group/memory.pressure"));
  const auto older = group.Sample();
  ASSERT_TRUE(older);
  EXPECT_FALSE(older->cache_can_be_released);
  EXPECT_EQ(older->InUse(), MiB(60));
  EXPECT_FALSE(older->stalled);
}

TEST_F(MemoryGroupsTest, V1CannotDropApart) {
  AddV1("group");
  V1MemoryGroup group(folder_.Path("memory/group"));
  EXPECT_EQ(group.Drop(MiB(1)).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(ReadBack("memory/group/memory.force_empty"), "");
}

TEST_F(MemoryGroupsTest, TheHierarchyThatHasTheMemoryControllerCounts) {
  AddV1(".");
  Write("cgroup.controllers", "hugetlb\n");  // systemd's hybrid
  AddV1("kubepods/burstable/pod1a-2b");
  EXPECT_TRUE(Groups()->OfPod(pod_));
}

TEST_F(MemoryGroupsTest, ErrorNamesTheFolderWithoutOne) {
  Write("cgroup.controllers", "cpu pids\n");
  const auto groups = FindMemoryGroups(folder_.Path(""), "/");
  ASSERT_FALSE(groups);
  EXPECT_THAT(groups.error().message, HasSubstr(folder_.Path("")));
}

TEST_F(MemoryGroupsTest, APodOrContainerThatIsGoneIsNotFound) {
  AddV1(".");
  const auto groups = Groups();
  EXPECT_EQ(groups->OfPod(pod_).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(groups->OfContainer(pod_, pod_.containers[0]).error().code, ErrorCode::kNotFound);
  AddV1("kubepods/burstable/pod1a-2b/another");
  EXPECT_EQ(groups->OfContainer(pod_, pod_.containers[0]).error().code, ErrorCode::kNotFound);
}

TEST_F(MemoryGroupsTest, LinksAreNotFollowed) {
  AddV1(".");
  AddV1("kubepods/burstable/pod1a-2b");
  AddV1("elsewhere");
  std::filesystem::create_directory_symlink(
      folder_.Path("memory/elsewhere"), folder_.Path("memory/kubepods/burstable/pod1a-2b/90d9"));
  EXPECT_EQ(Groups()->OfContainer(pod_, pod_.containers[0]).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace synergy::nodeagent
