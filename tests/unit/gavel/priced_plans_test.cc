// Compares the method by prices with the linear program that it replaces.

#include "gavel/priced_plans.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "gavel/max_min.h"
#include "gavel/policies/efficiency.h"

namespace synergy::testing {
namespace {

constexpr double kWithin = 1e-6;

double Between(Random& random, double least, double most) {
  return least + (most - least) * random.Uniform();
}

// Returns a problem with more jobs than GPUs. Some jobs are on several GPUs, and some do not run on
// a type.
GavelProblem AnyProblem(Random& random) {
  GavelProblem problem;
  const uint64_t types = 1 + random.Below(5);
  for (uint64_t type = 0; type < types; ++type) {
    problem.types.push_back(std::to_string(type));
    problem.gpus.push_back(static_cast<double>(random.Below(9)));
  }
  problem.gpus[0] += 1;
  const uint64_t jobs = 2 + random.Below(40);
  for (uint64_t i = 0; i < jobs; ++i) {
    GavelJob job{.name = std::to_string(i)};
    job.gpus = static_cast<double>(uint64_t{1} << random.Below(3));
    for (uint64_t type = 0; type < types; ++type)
      job.throughput.push_back(random.Below(8) == 0 ? 0 : Between(random, 0.1, 20));
    job.throughput[0] = Between(random, 0.1, 20);
    problem.jobs.push_back(job);
  }
  return problem;
}

// Adds a pair without any gain, which makes MaxMin and GreatestSum use the linear program.
GavelProblem WithPair(GavelProblem problem) {
  problem.pairs = {{.first = 0,
                    .second = 1,
                    .throughput = std::vector<std::array<double, 2>>(problem.types.size())}};
  return problem;
}

void ExpectFits(const GavelProblem& problem, const GavelShares& shares) {
  for (size_t type = 0; type < problem.types.size(); ++type) {
    double gpus = 0;
    for (size_t job = 0; job < problem.jobs.size(); ++job)
      gpus += shares.jobs[job][type] * problem.jobs[job].gpus;
    EXPECT_LE(gpus, problem.gpus[type] * (1 + kWithin));
  }
  for (const std::vector<double>& row : shares.jobs) {
    double time = 0;
    for (const double share : row) {
      EXPECT_GE(share, 0);
      time += share;
    }
    EXPECT_LE(time, 1 + kWithin);
  }
}

double Sum(const GavelProblem& problem, const std::vector<double>& throughputs) {
  double sum = 0;
  for (size_t job = 0; job < problem.jobs.size(); ++job)
    sum += throughputs[job] / ProportionalThroughput(problem, job);
  return sum;
}

TEST(PricedPlans, FindWhatTheLinearProgramFinds) {
  Random random(7);
  // The prices come from the previous problem, which was different.
  PriceMemory levels;
  PriceMemory sums;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(round);
    const GavelProblem problem = AnyProblem(random);
    std::vector<double> rise;
    for (size_t job = 0; job < problem.jobs.size(); ++job)
      rise.push_back(random.Below(6) == 0 && job > 0 ? 0 : Between(random, 0.1, 5));
    const std::vector<double> none(rise.size(), 0);
    const auto first = MaxMinByPrices(problem, none, rise, NoShares(problem), &levels);
    ASSERT_TRUE(first);
    ExpectFits(problem, first->shares);

    const GavelProblem same = WithPair(problem);
    const auto wanted = MaxMin(same, none, rise, NoShares(same));
    ASSERT_TRUE(wanted);
    EXPECT_NEAR(first->level, wanted->level, kWithin * wanted->level);

    // Continues with other weights, and then with the greatest sum.
    std::vector<double> floors = ThroughputsOf(problem, first->shares);
    for (size_t job = 0; job < floors.size(); ++job) {
      floors[job] = std::min(floors[job], rise[job] * first->level) * 0.9;
      rise[job] = Between(random, 0.1, 5);
    }
    const auto second = MaxMinByPrices(problem, floors, rise, first->shares, &levels);
    ASSERT_TRUE(second);
    ExpectFits(problem, second->shares);
    const auto wanted_second = MaxMin(same, floors, rise, NoShares(same));
    ASSERT_TRUE(wanted_second);
    EXPECT_NEAR(second->level, wanted_second->level, kWithin * wanted_second->level);

    std::vector<double> gains;
    for (size_t job = 0; job < problem.jobs.size(); ++job) {
      for (const double throughput : problem.jobs[job].throughput)
        gains.push_back(throughput / ProportionalThroughput(problem, job));
    }
    const auto sum = GreatestSumByPrices(problem, floors, gains, first->shares, &sums);
    ASSERT_TRUE(sum);
    ExpectFits(problem, *sum);
    const std::vector<double> throughputs = ThroughputsOf(problem, *sum);
    for (size_t job = 0; job < floors.size(); ++job)
      EXPECT_GE(throughputs[job], floors[job] * (1 - kWithin));
    const auto wanted_sum = GreatestSum(same, floors, NoShares(same));
    ASSERT_TRUE(wanted_sum);
    const double most = Sum(same, ThroughputsOf(same, *wanted_sum));
    EXPECT_NEAR(Sum(problem, throughputs), most, 1e-5 * most);
  }
}

// The largest gain need not be on the fastest type, as if types have costs.
TEST(PricedPlans, KeepDeadlinesAsTheLinearProgramDoes) {
  Random random(11);
  int kept = 0;
  TotalThroughput policy(GavelView::kPacked, {.by_cost = true, .deadlines = true});
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    GavelProblem problem = AnyProblem(random);
    for (size_t type = 0; type < problem.types.size(); ++type)
      problem.costs.push_back(Between(random, 0.1, 3));
    const double late = Between(random, 1, 40);
    for (GavelJob& job : problem.jobs) {
      job.steps_left = Between(random, 0, 100);
      if (random.Below(3) > 0) job.deadline = Between(random, 1, late) * *job.steps_left;
    }
    const auto answer = policy.Allocate(problem);
    ASSERT_TRUE(answer);
    ExpectFits(problem, answer->shares);
    const std::vector<double> throughputs = ThroughputsOf(problem, answer->shares);
    for (size_t job = 0; job < problem.jobs.size(); ++job) {
      const GavelJob& each = problem.jobs[job];
      if (!each.deadline || std::count(answer->missed.begin(), answer->missed.end(), job) > 0)
        continue;
      EXPECT_GE(throughputs[job] * *each.deadline, *each.steps_left * (1 - kWithin));
    }
    const auto wanted = policy.Allocate(WithPair(problem));
    ASSERT_TRUE(wanted);
    EXPECT_EQ(answer->missed, wanted->missed);
    EXPECT_NEAR(*answer->objective, *wanted->objective, 1e-5 * *wanted->objective);
    if (answer->missed.empty()) ++kept;
  }
  EXPECT_GT(kept, 50);
}

TEST(PricedPlans, JobsWithAPriceAreStuck) {
  // The weights are 4 and 1: at a quarter, the first has all of its time.
  GavelProblem problem = {.types = {"a"}, .gpus = {2}, .jobs = {}};
  for (const char* name : {"0", "1"}) problem.jobs.push_back({.name = name, .throughput = {1}});
  const auto answer = MaxMinByPrices(problem, std::vector<double>{0, 0}, std::vector<double>{4, 1},
                                     NoShares(problem));
  ASSERT_TRUE(answer);
  EXPECT_GT(answer->prices[0], 0);
  EXPECT_EQ(answer->prices[1], 0);
}

}  // namespace
}  // namespace synergy::testing
