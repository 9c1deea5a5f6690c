#include "nodeagent/probes/cpu_quota.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

using ::testing::HasSubstr;

TEST(QuotaTextTest, LeavesThePeriodAsItIs) {
  EXPECT_EQ(QuotaTextV2(MilliCpu(75), "max 100000\n"), "7500 100000");
  EXPECT_EQ(QuotaTextV2(MilliCpu(1500), "800000 200000"), "300000 200000");
  EXPECT_EQ(QuotaTextV1(MilliCpu(75), "-1\n", "100000\n"), "7500");
  EXPECT_EQ(QuotaTextV1(MilliCpu(1500), "800000", "200000"), "300000");
}

TEST(QuotaTextTest, RefusesWhatTheKernelWould) {
  EXPECT_EQ(QuotaTextV1(MilliCpu(10), "-1", "100000"), "1000");
  EXPECT_THAT(QuotaTextV1(MilliCpu(9), "-1", "100000").error().message,
              HasSubstr("the kernel's least quota"));
  EXPECT_FALSE(QuotaTextV2(MilliCpu(99), "max 10000"));
  EXPECT_EQ(QuotaTextV2(MilliCpu(100), "max 10000"), "1000 10000");
}

TEST(QuotaTextTest, AQuotaThatTakesNothingAwayIsNone) {
  EXPECT_FALSE(QuotaTextV2(MilliCpu(400), "40000 100000"));
  EXPECT_FALSE(QuotaTextV1(MilliCpu(500), "40000", "100000"));
  EXPECT_EQ(QuotaTextV1(MilliCpu(399), "40000", "100000"), "39900");
}

TEST(QuotaTextTest, OddTextsAreRefused) {
  for (const char* const text : {"", "max", "max 0", "x 100000", "-1", "1 2 3"})
    EXPECT_FALSE(QuotaTextV2(MilliCpu(100), text)) << text;
  EXPECT_FALSE(QuotaTextV1(MilliCpu(100), "max", "100000"));
  EXPECT_FALSE(QuotaTextV1(MilliCpu(100), "-1", ""));
}

class CpuQuotasTest : public ::testing::Test {
 protected:
  CpuQuotasTest() {
    pod_.uid = "1a-2b";
    pod_.qos_class = wire::QosClass::kBurstable;
    pod_.containers.push_back({"train", "containerd://90d9", {}, {}});
  }
  void Write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder_.Path(name)).parent_path());
    std::ofstream(folder_.Path(name)) << text;
  }
  void WriteV1Group(const std::string& name, const std::string& quota) {
    Write(name + "/cpu.cfs_quota_us", quota + "\n");
    Write(name + "/cpu.cfs_period_us", "100000\n");
  }
  Result<QuotaPlan> Plan(MilliCpu cpu) {
    auto quotas = FindCpuQuotas(folder_.Path(""), "/");
    if (!quotas) return Fail(quotas.error());
    return (*quotas)->Plan(pod_, pod_.containers[0], cpu);
  }

  testing::TemporaryFolder folder_;
  wire::ResizeStatus pod_;
};

TEST_F(CpuQuotasTest, WritesTheQuotaOfThePodInVersion2) {
  const std::string pod =
      "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a_2b.slice";
  Write("cpu.stat", "usage_usec 1\n");
  Write(pod + "/cpu.max", "max 100000\n");
  Write(pod + "/cri-containerd-90d9.scope/cpu.max", "40000 100000\n");
  const auto plan = Plan(MilliCpu(75));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->text, "7500 100000");
  EXPECT_EQ(std::filesystem::path(plan->file).lexically_normal(), folder_.Path(pod + "/cpu.max"));
  EXPECT_EQ((*FindCpuQuotas(folder_.Path(""), "/"))->Read(plan->file), "max 100000");
}

TEST_F(CpuQuotasTest, WritesTheQuotaOfThePodInVersion1) {
  Write("cpu/cpu.stat", "nr_periods 0\n");
  WriteV1Group("cpu/kubepods/burstable/pod1a-2b", "-1");
  WriteV1Group("cpu/kubepods/burstable/pod1a-2b/90d9", "-1");
  const auto plan = Plan(MilliCpu(75));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->text, "7500");
  EXPECT_THAT(plan->file, HasSubstr("pod1a-2b/cpu.cfs_quota_us"));
}

TEST_F(CpuQuotasTest, WritesTheContainerIfTheKernelRefusesThePod) {
  Write("cpu/cpu.stat", "nr_periods 0\n");
  WriteV1Group("cpu/kubepods/burstable/pod1a-2b", "-1");
  WriteV1Group("cpu/kubepods/burstable/pod1a-2b/90d9", "-1");
  WriteV1Group("cpu/kubepods/burstable/pod1a-2b/5ide", "20000");
  const auto plan = Plan(MilliCpu(75));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->file, HasSubstr("pod1a-2b/90d9/cpu.cfs_quota_us"));
}

TEST_F(CpuQuotasTest, ErrorsNameTheMissingPart) {
  EXPECT_THAT(Plan(MilliCpu(75)).error().message, HasSubstr("no CPU controller"));
  Write("cpu.stat", "usage_usec 1\n");
  EXPECT_EQ(Plan(MilliCpu(75)).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace synergy::nodeagent
