#include "inventory/health.h"

#include <string>

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
  judge.SeeXid("GPU-0", 32, kStart);
  EXPECT_EQ(judge.Judge("GPU-0", kLater).reason, "Xid 32");
  EXPECT_TRUE(judge.Judge("GPU-0", kMuchLater).healthy);
  judge.SeeXid("GPU-0", 32, kLater);
  EXPECT_FALSE(judge.Judge("GPU-0", kMuchLater).healthy);
}

TEST(HealthTest, AnXidThatNeedsAResetNeverPassesByTime) {
  GpuHealthJudge judge{GpuHealthRules{}};
  for (const uint64_t xid : {48, 63, 64, 74, 79, 94, 95, 119, 120}) {
    const std::string gpu = "GPU-" + std::to_string(xid);
    judge.SeeProbe(gpu, {}, kStart);
    judge.SeeXid(gpu, xid, kStart);
    judge.SeeProbe(gpu, {}, kMuchLater);
    EXPECT_EQ(judge.Judge(gpu, kStart + std::chrono::hours(9)).reason,
              "Xid " + std::to_string(xid) + ": the GPU needs a reset");
  }
}

TEST(HealthTest, AnXidThatNeedsAResetIsOverWhenTheGpuWasTakenOffTheBus) {
  GpuHealthJudge judge{GpuHealthRules{}};
  judge.SeeXid("GPU-0", 79, kStart);
  judge.SeeProbe("GPU-0", {.fault = "GPU is lost"}, kStart);
  judge.SeeProbe("GPU-0", {}, kLater);
  EXPECT_FALSE(judge.Judge("GPU-0", kMuchLater).healthy) << "it answers, and was not reset";
  judge.SeeProbe("GPU-0", {.fault = "not listed", .absent = true}, kLater);
  EXPECT_EQ(judge.Judge("GPU-0", kLater).reason, "not listed");
  judge.SeeProbe("GPU-0", {}, kLater);
  EXPECT_TRUE(judge.Judge("GPU-0", kLater).healthy);
}

TEST(HealthTest, RecoveryActionOfTheDriverPrecedesTheXid) {
  GpuHealthJudge judge{GpuHealthRules{}};
  judge.SeeXid("GPU-0", 94, kStart);
  judge.SeeProbe("GPU-0", {.recovery_action = ""}, kStart);
  EXPECT_EQ(judge.Judge("GPU-0", kLater).reason, "Xid 94");
  EXPECT_TRUE(judge.Judge("GPU-0", kMuchLater).healthy);
  judge.SeeProbe("GPU-0", {.recovery_action = "a reset of the GPU"}, kMuchLater);
  EXPECT_EQ(judge.Judge("GPU-0", kStart + std::chrono::hours(9)).reason,
            "the driver requests a reset of the GPU");
}

TEST(HealthTest, AFailedRepairCountsForGood) {
  GpuHealthJudge judge{GpuHealthRules{}};
  judge.SeeProbe("GPU-0", {.repair_pending = true, .repair_failed = true}, kStart);
  EXPECT_EQ(judge.Judge("GPU-0", kStart + std::chrono::hours(9)).reason,
            "memory repair failed: the GPU needs to be replaced");
}

TEST(HealthTest, ApplicationErrorsAndNoticesLeaveTheGpuHealthy) {
  GpuHealthJudge judge{GpuHealthRules{}};
  for (const uint64_t xid : {13, 31, 43, 45, 68, 109, 154}) judge.SeeXid("GPU-0", xid, kStart);
  EXPECT_TRUE(judge.Judge("GPU-0", kStart).healthy);
}

TEST(HealthTest, AnIgnoredXidDoesNotHideAnother) {
  GpuHealthJudge judge{GpuHealthRules{}};
  judge.SeeXid("GPU-0", 32, kStart);
  judge.SeeXid("GPU-0", 13, kStart);
  EXPECT_EQ(judge.Judge("GPU-0", kStart).reason, "Xid 32");
}

TEST(HealthTest, RulesCountForWhatWasSeenBeforeThem) {
  GpuHealthJudge judge{GpuHealthRules{}};
  judge.SeeXid("GPU-0", 74, kStart);
  GpuHealthRules rules;
  rules.ignored_xids.insert(74);
  judge.SetRules(rules);
  EXPECT_TRUE(judge.Judge("GPU-0", kStart).healthy) << "whatever its kind";
  judge.SeeXid("GPU-0", 32, kStart);
  judge.SetRules({.ignored_xids = {74}, .quiet_period = seconds(5)});
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
