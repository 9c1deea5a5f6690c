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
  question.models_drawn = true;
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

TEST(PlanTest, ServersBelowOneThatIsTooFewAreNotTried) {
  // With 31 jobs wait longer; with 30, by chance, they do not.
  const auto uneven = [](PlanPoint& point) -> Result<> {
    point.jobs = 10;
    point.mean = point.p95 = Seconds(3600);
    point.p95_wait = Seconds(point.servers % 2 == 0 ? 60 : 90);
    return {};
  };
  const auto plan = MakePlan(Question(), uneven);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->fewest->servers, 32);
  EXPECT_THAT(ToPlanTable(*plan, std::nullopt),
              HasSubstr("no fewer servers than 32: with 31 jobs wait longer\n"));
}

TEST(PlanTest, ThousandsOfServersTakeFewSimulations) {
  PlanQuestion question = Question();
  question.servers = 4000;
  int simulations = 0;
  const auto plan = MakePlan(question, [&simulations](PlanPoint& point) {
    ++simulations;
    return Formula(point);
  });
  ASSERT_TRUE(plan) << plan.error().message;
  // Jobs wait 90 s with the baseline, and as long with 2000 servers; a second more is the same.
  EXPECT_EQ(plan->fewest->servers, 1979);
  EXPECT_LE(simulations, 6 + 2 * 45);
}

TEST(PlanTest, TheBaselinesOwnSlackIsShown) {
  const auto slack = [](PlanPoint& point) -> Result<> {
    point.jobs = 10;
    point.mean = point.p95 = Seconds(3600);
    const int64_t enough = point.mechanism == "synergy" ? 5 : 6;
    point.p95_wait = Seconds(point.servers >= enough ? 0 : 60);
    return {};
  };
  PlanQuestion question = Question();
  question.servers = 9;
  auto plan = MakePlan(question, slack);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->baseline_fewest.servers, 6);
  EXPECT_THAT(ToPlanTable(*plan, std::nullopt),
              HasSubstr("5 instead of 9 servers, 32 GPUs fewer\n"
                        "burstable-spread itself needs 6 of the 9 servers for that\n"));
  EXPECT_THAT(ToPlanJson({&*plan, 1}, std::nullopt),
              HasSubstr("\"baseline_same_p95_wait\":{\"mechanism\":\"burstable-spread\","
                        "\"servers\":6"));
}

TEST(PlanTest, ServersOfSeveralSeedsAreARangeAndOfOneAreCalledSo) {
  PlanQuestion question = Question();
  question.models_drawn = true;
  question.seeds = {1, 2};
  const auto of_seed = [](PlanPoint& point) -> Result<> {
    point.jobs = 10;
    point.mean = point.p95 = Seconds(3600);
    point.p95_wait = Seconds(point.servers >= 20 + static_cast<int64_t>(point.seed) ? 0 : 60);
    return {};
  };
  const auto one = MakePlan(question, of_seed);
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_THAT(ToPlanTable(*one, std::nullopt),
              HasSubstr("88 GPUs fewer (with the models of seed 1 alone)\n"));
  question.seeds_of_servers = 2;
  const auto both = MakePlan(question, of_seed);
  ASSERT_TRUE(both) << both.error().message;
  EXPECT_THAT(ToPlanTable(*both, std::nullopt),
              HasSubstr("88 GPUs fewer (21 to 22 over 2 seeds of the models)\n"));
}

TEST(PlanTest, ASlowerMechanismIsCalledSlower) {
  PlanQuestion question = Question();
  std::swap(question.baseline, question.with);
  const auto plan = MakePlan(question, Formula);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(ToPlanTable(*plan, std::nullopt),
              HasSubstr("burstable-spread is slower: the mean under burstable-spread is 2.00 times "
                        "as long as under synergy"));
}

TEST(PlanTest, JobsThatAreLeftOutAreNamedAndWithoutAnyThereIsNoPlan) {
  const auto left_out = [](PlanPoint& point) -> Result<> {
    if (auto done = Formula(point); !done) return done;
    point.left_out = 2;
    point.left_out_because = "job 3, job 4 never got their GPUs";
    return {};
  };
  const auto plan = MakePlan(Question(), left_out);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(ToPlanTable(*plan, std::nullopt),
              HasSubstr("2 left out under synergy: job 3, job 4 never got their GPUs\n"));
  const auto none = MakePlan(Question(), [&](PlanPoint& point) -> Result<> {
    auto done = left_out(point);
    point.jobs = 0;
    return done;
  });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(none.error().message, HasSubstr("job 3, job 4 never got their GPUs"));
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
