#include "nodeagent/guarded/freezer.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

const wire::ResizeStatus kFreezerPod{.uid = "1-2", .qos_class = wire::QosClass::kBurstable};
const wire::ResizeStatus::Container kFreezerContainer{.name = "train", .id = "containerd://90d9"};

void ExpectPlan(const testing::TemporaryFolder& folder, const std::string& group,
                const PlannedSuspension& plan, const std::string& state,
                const std::vector<std::pair<std::string, bool>>& frozen) {
  const auto freezers = FindFreezers(folder.Path("root"), "/");
  ASSERT_TRUE(freezers) << freezers.error().message;
  EXPECT_EQ((*freezers)->Plan(kFreezerPod, kFreezerContainer).error().code, ErrorCode::kNotFound);
  std::filesystem::create_directories(folder.Path(group));
  EXPECT_EQ((*freezers)->Plan(kFreezerPod, kFreezerContainer), plan);
  EXPECT_EQ((*freezers)->IsFrozen(plan.file).error().code, ErrorCode::kNotFound);
  for (const auto& [text, is_frozen] : frozen) {
    std::ofstream(state) << text;
    EXPECT_EQ((*freezers)->IsFrozen(plan.file), is_frozen) << text;
  }
}

TEST(FreezersTest, SuspendTheContainersGroupOfV2) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder.Path("root"));
  std::ofstream(folder.Path("root/cgroup.controllers")) << "cpu memory\n";
  const std::string group = "root/kubepods/burstable/pod1-2/90d9";
  ExpectPlan(folder, group, {folder.Path(group) + "/cgroup.freeze", "1"},
             folder.Path(group) + "/cgroup.events",
             {{"populated 1\nfrozen 0\n", false}, {"populated 1\nfrozen 1\n", true}});
}

TEST(FreezersTest, SuspendTheContainersGroupOfV1) {
  const testing::TemporaryFolder folder;
  std::filesystem::create_directories(folder.Path("root/freezer"));
  const std::string group = "root/freezer/kubepods/burstable/pod1-2/90d9";
  ExpectPlan(folder, group, {folder.Path(group) + "/freezer.state", "FROZEN"},
             folder.Path(group) + "/freezer.state",
             {{"THAWED\n", false}, {"FREEZING\n", false}, {"FROZEN\n", true}});
}

TEST(FreezersTest, MayBeAbsent) {
  const testing::TemporaryFolder folder;
  EXPECT_EQ(FindFreezers(folder.Path("root"), "/").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace synergy::nodeagent
