#include "nodeagent/guarded/cpu_quota.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

using ::testing::HasSubstr;

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
  Result<QuotaPlan> Plan(MilliCpu cpu, bool burst = false) {
    auto quotas = FindCpuQuotas(folder_.Path(""), "/");
    if (!quotas) return Fail(quotas.error());
    return (*quotas)->Plan(pod_, pod_.containers[0], {cpu, {}, burst});
  }
  // Returns the contents of a probe's only file, or why there is none.
  std::string V2Text(MilliCpu cpu, const std::string& present) {
    Write("cpu.stat", "usage_usec 1\n");
    Write(kV2Pod + "/cpu.max", present);
    const auto plan = Plan(cpu);
    return plan ? plan->at(0).text : plan.error().message;
  }
  std::string V1Text(MilliCpu cpu, const std::string& present, const std::string& period) {
    Write("cpu/cpu.stat", "nr_periods 0\n");
    Write("cpu/kubepods/burstable/pod1a-2b/cpu.cfs_quota_us", present);
    Write("cpu/kubepods/burstable/pod1a-2b/cpu.cfs_period_us", period);
    const auto plan = Plan(cpu);
    return plan ? plan->at(0).text : plan.error().message;
  }

  const std::string kV2Pod =
      "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a_2b.slice";

  testing::TemporaryFolder folder_;
  wire::ResizeStatus pod_;
};

TEST_F(CpuQuotasTest, LeavesThePeriodAsItIs) {
  EXPECT_EQ(V2Text(MilliCpu(75), "max 100000\n"), "7501 100000");
  EXPECT_EQ(V2Text(MilliCpu(1500), "800000 200000"), "300001 200000");
}

TEST_F(CpuQuotasTest, LeavesThePeriodAsItIsInVersion1) {
  EXPECT_EQ(V1Text(MilliCpu(75), "-1\n", "100000\n"), "7501");
  EXPECT_EQ(V1Text(MilliCpu(1500), "800000", "200000"), "300001");
}

// A kubelet writes whole milli-CPUs. What it writes must not be mistaken for a temporary quota.
TEST_F(CpuQuotasTest, NeverIsWhatAKubeletWrites) {
  for (int cpu = 10; cpu < 4000; cpu += 7) {
    const std::string text = V1Text(MilliCpu(cpu), "-1", "100000");
    EXPECT_NE(std::stoi(text) % 100, 0) << cpu;
  }
}

TEST_F(CpuQuotasTest, RefusesWhatTheKernelWould) {
  EXPECT_EQ(V1Text(MilliCpu(10), "-1", "100000"), "1001");
  EXPECT_THAT(V1Text(MilliCpu(9), "-1", "100000"), HasSubstr("the kernel's least quota"));
}

TEST_F(CpuQuotasTest, AQuotaThatTakesNothingAwayIsNone) {
  EXPECT_THAT(V2Text(MilliCpu(400), "40000 100000"), HasSubstr("not less than its quota"));
  EXPECT_EQ(V2Text(MilliCpu(399), "40000 100000"), "39901 100000");
}

TEST_F(CpuQuotasTest, OddTextsAreRefused) {
  for (const char* const text : {"", "max", "max 0", "x 100000", "-1", "1 2 3"})
    EXPECT_THAT(V2Text(MilliCpu(100), text), HasSubstr("is not a quota")) << text;
}

TEST_F(CpuQuotasTest, OddTextsAreRefusedInVersion1) {
  EXPECT_THAT(V1Text(MilliCpu(100), "max ", "100000"), HasSubstr("is not a quota"));
  EXPECT_THAT(V1Text(MilliCpu(100), "-1", ""), HasSubstr("is not a quota"));
}

TEST_F(CpuQuotasTest, WritesTheQuotaOfThePodInVersion2) {
  Write("cpu.stat", "usage_usec 1\n");
  Write(kV2Pod + "/cpu.max", "max 100000\n");
  Write(kV2Pod + "/cri-containerd-90d9.scope/cpu.max", "40000 100000\n");
  const auto plan = Plan(MilliCpu(75));
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->size(), 1U);
  EXPECT_EQ(plan->at(0).text, "7501 100000");
  EXPECT_EQ(std::filesystem::path(plan->at(0).file).lexically_normal(),
            folder_.Path(kV2Pod + "/cpu.max"));
  EXPECT_EQ((*FindCpuQuotas(folder_.Path(""), "/"))->Read(plan->at(0).file), "max 100000");
}

TEST_F(CpuQuotasTest, ABurstRaisesThePodAsMuchAsItsContainer) {
  Write("cpu.stat", "usage_usec 1\n");
  Write(kV2Pod + "/cpu.max", "20000 100000\n");
  Write(kV2Pod + "/cri-containerd-90d9.scope/cpu.max", "15000 100000\n");
  const auto plan = Plan(MilliCpu(280), true);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->size(), 2U);
  EXPECT_EQ(plan->at(0).text, "33001 100000");
  EXPECT_THAT(plan->at(0).file, HasSubstr("pod1a_2b.slice/cpu.max"));
  EXPECT_EQ(plan->at(1).text, "28001 100000");
  EXPECT_THAT(plan->at(1).file, HasSubstr("90d9.scope/cpu.max"));
  EXPECT_THAT(Plan(MilliCpu(150), true).error().message, HasSubstr("not more than its quota"));
}

TEST_F(CpuQuotasTest, ABurstLeavesAPodWithoutQuotaAlone) {
  Write("cpu.stat", "usage_usec 1\n");
  Write(kV2Pod + "/cpu.max", "max 100000\n");
  Write(kV2Pod + "/cri-containerd-90d9.scope/cpu.max", "15000 100000\n");
  const auto plan = Plan(MilliCpu(280), true);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->size(), 1U);
  EXPECT_THAT(plan->at(0).file, HasSubstr("90d9.scope/cpu.max"));
}

TEST_F(CpuQuotasTest, AContainerWithoutQuotaHasNoBurst) {
  Write("cpu.stat", "usage_usec 1\n");
  Write(kV2Pod + "/cpu.max", "max 100000\n");
  Write(kV2Pod + "/cri-containerd-90d9.scope/cpu.max", "max 100000\n");
  EXPECT_EQ(Plan(MilliCpu(280), true).error().code, ErrorCode::kInvalid);
}

TEST_F(CpuQuotasTest, ABurstInVersion1) {
  Write("cpu/cpu.stat", "nr_periods 0\n");
  WriteV1Group("cpu/kubepods/burstable/pod1a-2b", "15000");
  WriteV1Group("cpu/kubepods/burstable/pod1a-2b/90d9", "15000");
  const auto plan = Plan(MilliCpu(280), true);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_EQ(plan->size(), 2U);
  EXPECT_EQ(plan->at(0).text, "28001");
  EXPECT_THAT(plan->at(0).file, HasSubstr("pod1a-2b/cpu.cfs_quota_us"));
  EXPECT_EQ(plan->at(1).text, "28001");
}

TEST_F(CpuQuotasTest, WritesTheQuotaOfThePodInVersion1) {
  Write("cpu/cpu.stat", "nr_periods 0\n");
  WriteV1Group("cpu/kubepods/burstable/pod1a-2b", "-1");
  WriteV1Group("cpu/kubepods/burstable/pod1a-2b/90d9", "-1");
  const auto plan = Plan(MilliCpu(75));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->at(0).text, "7501");
  EXPECT_THAT(plan->at(0).file, HasSubstr("pod1a-2b/cpu.cfs_quota_us"));
}

TEST_F(CpuQuotasTest, WritesTheContainerIfTheKernelRefusesThePod) {
  Write("cpu/cpu.stat", "nr_periods 0\n");
  WriteV1Group("cpu/kubepods/burstable/pod1a-2b", "-1");
  WriteV1Group("cpu/kubepods/burstable/pod1a-2b/90d9", "-1");
  WriteV1Group("cpu/kubepods/burstable/pod1a-2b/5ide", "20000");
  const auto plan = Plan(MilliCpu(75));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(plan->at(0).file, HasSubstr("pod1a-2b/90d9/cpu.cfs_quota_us"));
}

TEST_F(CpuQuotasTest, ErrorsNameTheMissingPart) {
  EXPECT_THAT(Plan(MilliCpu(75)).error().message, HasSubstr("no CPU controller"));
  Write("cpu.stat", "usage_usec 1\n");
  EXPECT_EQ(Plan(MilliCpu(75)).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace synergy::nodeagent
