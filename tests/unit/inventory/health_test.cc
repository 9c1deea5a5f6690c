#include "inventory/health.h"

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using std::chrono::seconds;

constexpr Instant kStart{std::chrono::hours(1)};
const Instant kLater = kStart + seconds(59);
const Instant kMuchLater = kStart + seconds(60);

TEST(HealthTest, AGpuOfWhichNothingWasSeenIsHealthy) {
  EXPECT_TRUE(GpuHealthJudge(GpuHealthRules{}).Judge("GPU-0", kStart).healthy);
}

TEST(HealthTest, AFailedProbeCountsUntilOneSucceeds) {
  GpuHealthJudge judge{GpuHealthRules{}};
  judge.SeeProbe("GPU-0", {.fault = "GPU is lost"}, kStart);
  EXPECT_EQ(judge.Judge("GPU-0", kStart + std::chrono::hours(9)).reason, "GPU is lost");
  EXPECT_TRUE(judge.Judge("GPU-1", kStart).healthy) << "another one";
  judge.SeeProbe("GPU-0", {}, kLater);
  EXPECT_TRUE(judge.Judge("GPU-0", kLater).healthy);
}

TEST(HealthTest, AnXidCountsForTheQuietPeriodAfterTheLast) {
  GpuHealthJudge judge{GpuHealthRules{}};
  judge.SeeXid("GPU-0", 79, kStart);
  EXPECT_EQ(judge.Judge("GPU-0", kLater).reason, "Xid 79");
  EXPECT_TRUE(judge.Judge("GPU-0", kMuchLater).healthy);
  judge.SeeXid("GPU-0", 79, kLater);
  EXPECT_FALSE(judge.Judge("GPU-0", kMuchLater).healthy);
}

TEST(HealthTest, ApplicationsErrorsSayNothingAboutTheGpu) {
  GpuHealthJudge judge{GpuHealthRules{}};
  for (const uint64_t xid : {13, 31, 43, 45, 68, 109}) judge.SeeXid("GPU-0", xid, kStart);
  EXPECT_TRUE(judge.Judge("GPU-0", kStart).healthy);
}

TEST(HealthTest, AnIgnoredXidDoesNotHideAnother) {
  GpuHealthJudge judge{GpuHealthRules{}};
  judge.SeeXid("GPU-0", 79, kStart);
  judge.SeeXid("GPU-0", 13, kStart);
  EXPECT_EQ(judge.Judge("GPU-0", kStart).reason, "Xid 79");
}

TEST(HealthTest, RulesCountForWhatWasSeenBeforeThem) {
  GpuHealthJudge judge{GpuHealthRules{}};
  judge.SeeXid("GPU-0", 74, kStart);
  GpuHealthRules rules;
  rules.ignored_xids.insert(74);
  judge.SetRules(rules);
  EXPECT_TRUE(judge.Judge("GPU-0", kStart).healthy);
  judge.SetRules({.ignored_xids = {}, .quiet_period = seconds(5)});
  EXPECT_TRUE(judge.Judge("GPU-0", kStart + seconds(5)).healthy);
}

TEST(HealthTest, EccErrorsCountWhenTheyAreAdded) {
  GpuHealthJudge judge{GpuHealthRules{}};
  judge.SeeProbe("GPU-0", {.uncorrectable_errors = 7}, kStart);
  EXPECT_TRUE(judge.Judge("GPU-0", kStart).healthy) << "they were there before us";
  judge.SeeProbe("GPU-0", {.uncorrectable_errors = 8}, kStart);
  EXPECT_EQ(judge.Judge("GPU-0", kLater).reason, "uncorrectable ECC errors");
  judge.SeeProbe("GPU-0", {.uncorrectable_errors = 8}, kMuchLater);
  EXPECT_TRUE(judge.Judge("GPU-0", kMuchLater).healthy);
}

TEST(HealthTest, AResetSetsTheCountBack) {
  GpuHealthJudge judge{GpuHealthRules{}};
  judge.SeeProbe("GPU-0", {.uncorrectable_errors = 7}, kStart);
  judge.SeeProbe("GPU-0", {.uncorrectable_errors = 0}, kStart);
  EXPECT_TRUE(judge.Judge("GPU-0", kStart).healthy);
  judge.SeeProbe("GPU-0", {.uncorrectable_errors = 1}, kStart);
  EXPECT_FALSE(judge.Judge("GPU-0", kStart).healthy);
}

TEST(HealthTest, ErrorsAddedWhileTheGpuWasAwayAreSeen) {
  GpuHealthJudge judge{GpuHealthRules{}};
  judge.SeeProbe("GPU-0", {.uncorrectable_errors = 1}, kStart);
  judge.SeeProbe("GPU-0", {.fault = "lost"}, kStart);
  judge.SeeProbe("GPU-0", {.uncorrectable_errors = 2}, kStart);
  EXPECT_EQ(judge.Judge("GPU-0", kStart).reason, "uncorrectable ECC errors");
}

TEST(HealthTest, APendingRepairCountsUntilItIsDone) {
  GpuHealthJudge judge{GpuHealthRules{}};
  judge.SeeProbe("GPU-0", {.repair_pending = true}, kStart);
  EXPECT_FALSE(judge.Judge("GPU-0", kStart + std::chrono::hours(9)).healthy);
  judge.SeeProbe("GPU-0", {}, kMuchLater);
  EXPECT_TRUE(judge.Judge("GPU-0", kMuchLater).healthy);
}

}  // namespace
}  // namespace synergy::testing
