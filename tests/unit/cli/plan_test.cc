#include "cli/simulate/plan/plan.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A model in which waits and completion times decrease with servers and with CPUs. Synergy needs
// fewer of both.
Result<> Formula(PlanPoint& point) {
  const double speed = point.mechanism == "synergy" ? 2 : 1;
  point.jobs = 10;
  point.p95_wait = Seconds(3600 * 100 / (speed * static_cast<double>(point.servers)));
  point.mean = Seconds(3600 * 1000 / (speed * static_cast<double>(point.cpus)) +
                       static_cast<double>(point.seed));
  point.p95 = point.mean * 2;
  point.gpu_hours = 50 / speed;
  return {};
}

PlanQuestion Question() {
  return {.baseline = "burstable-spread",
          .with = "synergy",
          .servers = 32,
          .gpus = 8,
          .cpus = 96,
          .least_cpus_per_gpu = 8};
}

TEST(PlanTest, TheFewestServersWithTheSameWaitAreFound) {
  const auto plan = MakePlan(Question(), Formula);
  ASSERT_TRUE(plan) << plan.error().message;
  ASSERT_TRUE(plan->fewest);
  EXPECT_EQ(plan->fewest->servers, 16);
  EXPECT_EQ(plan->GpusFewer(), 128);
}

TEST(PlanTest, ServersAreNeverTooFewForTheLargestJob) {
  PlanQuestion question = Question();
  question.largest_job = 200;
  const auto plan = MakePlan(question, Formula);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->fewest->servers, 25);
}

TEST(PlanTest, WhereJobsWaitLongerNoServerIsSaved) {
  PlanQuestion question = Question();
  std::swap(question.baseline, question.with);
  const auto plan = MakePlan(question, Formula);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_FALSE(plan->fewest);
  EXPECT_EQ(plan->GpusFewer(), 0);
  EXPECT_THAT(ToPlanTable(*plan, std::nullopt), HasSubstr("no fewer servers than 32"));
  EXPECT_THAT(ToPlanJson({&*plan, 1}, std::nullopt), HasSubstr("\"same_p95_wait\":null"));
}

TEST(PlanTest, RatiosBelowWhatWasMeasuredAreNotSimulated) {
  const auto plan = MakePlan(Question(), Formula);
  ASSERT_TRUE(plan) << plan.error().message;
  std::vector<int64_t> cpus;
  for (const PlanPoint& point : plan->ratios) cpus.push_back(point.cpus);
  EXPECT_THAT(cpus, ::testing::ElementsAre(72, 96, 144, 192)) << "48 are 6 for each GPU";
}

TEST(PlanTest, SeveralSeedsGiveARange) {
  PlanQuestion question = Question();
  question.seeds = {1, 2, 3000};
  const auto plan = MakePlan(question, Formula);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->gains.size(), 3U);
  EXPECT_EQ(plan->baseline.seed, 1U);
  EXPECT_THAT(ToPlanTable(*plan, std::nullopt), HasSubstr("over 3 seeds"));
}

TEST(PlanTest, MoneyIsShownWithAPriceOnly) {
  auto plan = MakePlan(Question(), Formula);
  ASSERT_TRUE(plan) << plan.error().message;
  plan->workload = "may.txt";
  EXPECT_THAT(ToPlanTable(*plan, std::nullopt), Not(HasSubstr("cost")));
  EXPECT_THAT(ToPlanTable(*plan, 2.0),
              HasSubstr("16 instead of 32 servers, 128 GPUs fewer, 186880.00 a month"));
  EXPECT_THAT(ToPlanJson({&*plan, 1}, 2.0), HasSubstr("\"cost\":100"));
}

TEST(PlanTest, ASimulationThatFailsEndsThePlan) {
  const auto plan = MakePlan(Question(), [](PlanPoint&) -> Result<> {
    return Fail(ErrorCode::kInvalid, "no such trace");
  });
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message, "no such trace");
}

}  // namespace
}  // namespace synergy::cli::testing
