#include "nodeagent/cgroups/cpu_groups.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using ::testing::HasSubstr;

TEST(CpuUseTest, ReadsTheSecondVersion) {
  const auto use = ParseCpuUseV2(
      "usage_usec 5000000\nuser_usec 4\nsystem_usec 1\nnr_periods 7\nnr_throttled 2\n"
      "throttled_usec 250\nnr_bursts 0\n",
      "some avg10=0.00 avg60=1.00 avg300=0.00 total=777\nfull avg10=0.00 total=5\n");
  ASSERT_TRUE(use.has_value()) << use.error().message;
  EXPECT_EQ(*use, (CpuUse{microseconds(5000000), microseconds(250), microseconds(777)}));
}

TEST(CpuUseTest, WithoutAQuotaOrPressureThereIsNoneOfIt) {
  const auto use = ParseCpuUseV2("usage_usec 12\nuser_usec 4\nsystem_usec 8\n", "");
  ASSERT_TRUE(use.has_value()) << use.error().message;
  EXPECT_EQ(*use, (CpuUse{microseconds(12), {}, std::nullopt}));
}

TEST(CpuUseTest, ReadsTheFirstVersion) {
  const auto use =
      ParseCpuUseV1("123456789\n", "nr_periods 7\nnr_throttled 2\nthrottled_time 99\n");
  ASSERT_TRUE(use.has_value()) << use.error().message;
  EXPECT_EQ(*use, (CpuUse{nanoseconds(123456789), nanoseconds(99), std::nullopt}));
}

TEST(CpuUseTest, OddTextsAreRefused) {
  EXPECT_FALSE(ParseCpuUseV2("user_usec 4\n", ""));
  EXPECT_FALSE(ParseCpuUseV2("usage_usec many\n", ""));
  EXPECT_FALSE(ParseCpuUseV1("", ""));
  EXPECT_FALSE(ParseCpuUseV1("-5", ""));
}

class CpuGroupsTest : public ::testing::Test {
 protected:
  CpuGroupsTest() {
    pod_.uid = "1a-2b";
    pod_.qos_class = wire::QosClass::kBurstable;
    pod_.containers.push_back({"train", "containerd://90d9", {}, {}});
  }
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_.Path(name)).parent_path());
    std::ofstream(folder_.Path(name)) << text;
  }

  testing::TemporaryFolder folder_;
  wire::ResizeStatus pod_;
};

TEST_F(CpuGroupsTest, FindsAContainerInTheSecondVersion) {
  Write("cpu.stat", "usage_usec 1\n");
  Write(
      "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a_2b.slice/"
      "cri-containerd-90d9.scope/cpu.stat",
      "usage_usec 42\nthrottled_usec 3\n");
  Write("kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a_2b.slice/cpu.stat",
        "usage_usec 99\nthrottled_usec 5\n");
  auto groups = FindCpuGroups(folder_.Path(""), "/");
  ASSERT_TRUE(groups.has_value()) << groups.error().message;
  const auto use = (*groups)->Read(pod_, pod_.containers[0]);
  ASSERT_TRUE(use.has_value()) << use.error().message;
  // The container's figure does not include time throttled by the pod's quota.
  EXPECT_EQ(*use, (CpuUse{microseconds(42), microseconds(8), std::nullopt}));
}

TEST_F(CpuGroupsTest, FindsAContainerInTheTwoHierarchiesOfTheFirstVersion) {
  Write("cpuacct/cpuacct.usage", "1\n");
  Write("cpu/cpu.stat", "nr_periods 0\n");
  Write("cpuacct/kubepods/burstable/pod1a-2b/90d9/cpuacct.usage", "42\n");
  Write("cpu/kubepods/burstable/pod1a-2b/90d9/cpu.stat", "throttled_time 7\n");
  Write("cpu/kubepods/burstable/pod1a-2b/cpu.stat", "nr_periods 9\nthrottled_time 20\n");
  auto groups = FindCpuGroups(folder_.Path(""), "/");
  ASSERT_TRUE(groups.has_value()) << groups.error().message;
  const auto use = (*groups)->Read(pod_, pod_.containers[0]);
  ASSERT_TRUE(use.has_value()) << use.error().message;
  EXPECT_EQ(*use, (CpuUse{nanoseconds(42), nanoseconds(27), std::nullopt}));
}

TEST_F(CpuGroupsTest, ErrorsNameTheMissingPart) {
  EXPECT_THAT(FindCpuGroups(folder_.Path(""), "/").error().message, HasSubstr("no CPU controller"));
  Write("cpu.stat", "usage_usec 1\n");
  auto groups = FindCpuGroups(folder_.Path(""), "/");
  ASSERT_TRUE(groups.has_value());
  EXPECT_EQ((*groups)->Read(pod_, pod_.containers[0]).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace synergy::nodeagent
