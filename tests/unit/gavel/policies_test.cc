#include "gavel/policies/policies.h"

#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gavel/max_min.h"
#include "gavel/problem.h"
#include "gavel/type_policies.h"

namespace synergy::testing {
namespace {

using ::testing::AllOf;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kTolerance = 1e-6;

auto Near(double value) { return DoubleNear(value, kTolerance); }

GavelAnswer Answer(std::string_view policy, const GavelProblem& problem) {
  const auto made = MakeGavelPolicy(policy);
  EXPECT_TRUE(made) << made.error().message;
  if (!made) return {};
  const Result<GavelAnswer> answer = (*made)->Allocate(problem);
  EXPECT_TRUE(answer) << answer.error().message;
  return answer.value_or(GavelAnswer{});
}

std::string ErrorOf(std::string_view policy, const GavelProblem& problem) {
  const auto made = MakeGavelPolicy(policy);
  if (!made) return made.error().message;
  const Result<GavelAnswer> answer = (*made)->Allocate(problem);
  return answer ? "no error" : answer.error().message;
}

GavelJob JobOf(std::string name, std::vector<double> throughput, double gpus = 1) {
  GavelJob job{.name = std::move(name), .gpus = gpus};
  job.throughput = std::move(throughput);
  return job;
}

// Returns a job that is much faster on the fast type and one that is slightly faster, and one GPU
// of each type.
GavelProblem SlowAndFast() {
  return {
      .types = {"k80", "v100"}, .gpus = {1, 1}, .jobs = {JobOf("0", {1, 4}), JobOf("1", {3, 4})}};
}

TEST(GavelPolicies, UnknownNameIsRefusedWithThoseThatAreKnown) {
  const auto made = MakeGavelPolicy("lottery");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message,
              HasSubstr("unknown policy 'lottery'; known policies: fifo, fifo_perf"));
}

TEST(GavelPolicies, AwareGivesTheFastTypeToTheJobThatGainsMost) {
  GavelProblem problem = SlowAndFast();
  problem.jobs.push_back(JobOf("2", {3, 4}));
  const GavelAnswer fair = Answer("max_min_fairness_perf", problem);
  // Job 0 has x of v100; the others have half of the rest, and of k80: 4 x / 2.5 = (3.5 - 2 x) /
  // 3.5.
  const double part = 1 / (4 / 2.5 + 2 / 3.5);
  EXPECT_THAT(*fair.objective, Near(4 * part / 2.5));
  EXPECT_THAT(fair.shares.jobs[0], ElementsAre(Near(0), Near(part)));
  EXPECT_THAT(*Answer("max_min_fairness", problem).objective, Near(2.0 / 3));
}

TEST(GavelPolicies, AmongOptimaTheGreatestSumIsTaken) {
  // Job 0 limits the level, whatever the others get.
  const GavelProblem problem = {
      .types = {"a"}, .gpus = {8}, .jobs = {JobOf("0", {1}), JobOf("1", {1})}};
  const GavelAnswer fair = Answer("max_min_fairness_perf", problem);
  EXPECT_THAT(fair.shares.jobs, ElementsAre(ElementsAre(Near(1)), ElementsAre(Near(1))));
}

TEST(GavelPolicies, WaterFillingContinuesWithJobsThatCanRise) {
  // Because of its weight of 4 and with one whole GPU, job 0 cannot rise above a quarter; the
  // others share the rest.
  GavelProblem problem = {
      .types = {"a"}, .gpus = {2}, .jobs = {JobOf("0", {2}), JobOf("1", {2}), JobOf("2", {2})}};
  problem.jobs[0].weight = 4;
  const GavelAnswer filled = Answer("max_min_fairness_water_filling_perf", problem);
  EXPECT_THAT(*filled.objective, Near(0.25));
  EXPECT_THAT(filled.shares.jobs,
              ElementsAre(ElementsAre(Near(1)), ElementsAre(Near(0.5)), ElementsAre(Near(0.5))));
}

TEST(GavelPolicies, EntitiesShareByWeightAndFifoServesTheFirst) {
  GavelProblem problem = {.types = {"a"}, .gpus = {1.5}, .jobs = {}};
  for (const char* name : {"0", "1", "2", "3"}) problem.jobs.push_back(JobOf(name, {1}));
  problem.entities = {{.name = "queue", .weight = 2, .fifo = true, .jobs = {0, 1}},
                      {.name = "fair", .weight = 1, .fifo = false, .jobs = {2, 3}}};
  const GavelAnswer filled = Answer("hierarchical_perf", problem);
  EXPECT_THAT(filled.shares.jobs, ElementsAre(ElementsAre(Near(1)), ElementsAre(Near(0)),
                                              ElementsAre(Near(0.25)), ElementsAre(Near(0.25))));
  problem.entities.clear();
  EXPECT_THAT(ErrorOf("hierarchical_perf", problem), HasSubstr("entities: missing"));
}

GavelProblem WithDeadlines() {
  GavelProblem problem = {.types = {"a"}, .gpus = {1}, .costs = {2}, .jobs = {}};
  for (const char* name : {"0", "1", "2"}) {
    problem.jobs.push_back(JobOf(name, {1}));
    problem.jobs.back().steps_left = 100;
  }
  return problem;
}

TEST(GavelPolicies, DeadlinesAreKeptWhereTheyCanBe) {
  GavelProblem problem = WithDeadlines();
  problem.jobs[0].throughput = {4};
  problem.jobs[1].deadline = 200;
  const GavelAnswer kept = Answer("max_sum_throughput_normalized_by_cost_perf_SLOs", problem);
  EXPECT_THAT(kept.missed, IsEmpty());
  EXPECT_THAT(kept.shares.jobs[1], ElementsAre(Near(0.5)));
  EXPECT_THAT(*kept.objective, Near((4 * 0.5 + 0.5) / 2));
  EXPECT_THAT(*Answer("max_sum_throughput_normalized_by_cost_perf", problem).objective, Near(2));
  EXPECT_THAT(*Answer("max_sum_throughput_perf", problem).objective, Near(4));
}

TEST(GavelPolicies, TheFewestDeadlinesAreGivenUpAndNamed) {
  GavelProblem problem = WithDeadlines();
  problem.jobs[0].deadline = 110;  // leaves no room for the others, which fit together without it
  problem.jobs[1].deadline = 210;
  problem.jobs[2].deadline = 220;
  const GavelAnswer answer = Answer("max_sum_throughput_normalized_by_cost_perf_SLOs", problem);
  EXPECT_THAT(answer.missed, ElementsAre(0));
  EXPECT_GE(answer.shares.jobs[1][0], 100.0 / 210 - kTolerance);
  EXPECT_GE(answer.shares.jobs[2][0], 100.0 / 220 - kTolerance);
}

TEST(GavelPolicies, DropsADeadlineThatCannotBeMet) {
  GavelProblem problem = WithDeadlines();
  problem.jobs[2].deadline = 99;
  problem.jobs[1].deadline = 0;
  EXPECT_THAT(Answer("max_sum_throughput_normalized_by_cost_perf_SLOs", problem).missed,
              ElementsAre(1, 2));
}

TEST(GavelPolicies, MakespanIsTheLeastThereIs) {
  GavelProblem problem = WithDeadlines();
  problem.jobs[0].steps_left = 300;
  const GavelAnswer answer = Answer("min_total_duration_perf", problem);
  EXPECT_THAT(*answer.objective, Near(500));
  EXPECT_THAT(answer.shares.jobs[0], ElementsAre(Near(0.6)));
  problem.jobs[1].steps_left.reset();
  EXPECT_THAT(ErrorOf("min_total_duration_perf", problem),
              HasSubstr("num_steps_remaining[\"1\"]: missing"));
}

TEST(GavelPolicies, FinishTimesRememberWhatWasDone) {
  GavelProblem problem = WithDeadlines();
  const auto policy = MakeGavelPolicy("finish_time_fairness_perf");
  ASSERT_TRUE(policy);
  // An equal share gives each a third: no job is later than alone.
  EXPECT_THAT(*(*policy)->Allocate(problem)->objective, Near(1));
  // Alone, job 0 would have needed 150 s for 50 iterations. It took 600 s.
  problem.jobs[0].steps_left = 50;
  for (GavelJob& job : problem.jobs) job.waited = 600;
  const Result<GavelAnswer> later = (*policy)->Allocate(problem);
  ASSERT_TRUE(later);
  // The others have made no progress: (600 + 100 / thr) / (0 + 300), more than twice the
  // throughput.
  EXPECT_GT(later->shares.jobs[1][0], later->shares.jobs[0][0] + 0.1);
}

TEST(GavelPolicies, FifoStopsAtTheFirstThatFitsNowhere) {
  GavelProblem problem = {.types = {"k80", "v100"}, .gpus = {2, 2}, .jobs = {}};
  problem.jobs = {JobOf("0", {1, 2}), JobOf("1", {1, 2}, 2), JobOf("2", {1, 2}, 2),
                  JobOf("3", {1, 2})};
  const GavelAnswer aware = Answer("fifo_perf", problem);
  EXPECT_THAT(aware.shares.jobs, ElementsAre(ElementsAre(0, 1), ElementsAre(1, 0),
                                             ElementsAre(0, 0), ElementsAre(0, 0)));
  EXPECT_FALSE(aware.objective.has_value());
  // If types do not count, the job gets the one with the most free GPUs.
  EXPECT_THAT(Answer("fifo", problem).shares.jobs[0], ElementsAre(1, 0));
}

TEST(GavelPolicies, FifoSkipsJobsThatRunNowhere) {
  GavelProblem problem = SlowAndFast();
  problem.jobs[0].throughput = {0, 0};
  EXPECT_THAT(Answer("fifo_perf", problem).shares.jobs,
              ElementsAre(ElementsAre(0, 0), ElementsAre(0, 1)));
}

TEST(GavelPolicies, FifoPacksWhereItIsWorthIt) {
  GavelProblem problem = {.types = {"a"}, .gpus = {2}, .jobs = {}};
  for (const char* name : {"0", "1", "2", "3"}) problem.jobs.push_back(JobOf(name, {2}));
  const auto pair = [](size_t first, size_t second, double together) {
    return GavelPair{.first = first, .second = second, .throughput = {{together, together}}};
  };
  problem.pairs = {pair(0, 2, 1.6), pair(1, 2, 1.8), pair(0, 3, 1.5), pair(1, 3, 1.9)};
  const GavelAnswer packed = Answer("fifo_packed", problem);
  // 2 joins 1 (1.8 of 2). 3 would gain 1.5 with 0, which is not above the threshold, and 1 is not
  // single any more.
  EXPECT_THAT(packed.shares.pairs,
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(0), ElementsAre(0)));
  EXPECT_THAT(packed.shares.jobs,
              ElementsAre(ElementsAre(1), ElementsAre(0), ElementsAre(0), ElementsAre(0)));
}

TEST(GavelPolicies, PairsOfUnlikeSizesAreNeverPacked) {
  GavelProblem problem = {
      .types = {"a"}, .gpus = {2}, .jobs = {JobOf("0", {1}, 1), JobOf("1", {1}, 2)}};
  problem.pairs = {{.first = 0, .second = 1, .throughput = {{1, 1}}}};
  EXPECT_THAT(Answer("max_min_fairness_packed", problem).shares.pairs, ElementsAre(ElementsAre(0)));
  problem.jobs[0].gpus = 2;
  EXPECT_THAT(Answer("max_min_fairness_packed", problem).shares.pairs, ElementsAre(ElementsAre(1)));
}

TEST(GavelPolicies, ShortestFirstGivesTheShortestItsBestType) {
  GavelProblem problem = SlowAndFast();
  problem.jobs[0].steps_left = 1000;
  problem.jobs[1].steps_left = 400;
  const GavelAnswer answer = Answer("shortest_job_first_perf", problem);
  EXPECT_THAT(answer.shares.jobs, ElementsAre(ElementsAre(1, 0), ElementsAre(0, 1)));
  EXPECT_THAT(*answer.objective, Near(100));
}

TEST(GavelPolicies, IsolatedCutsTheClusterIntoEqualParts) {
  GavelProblem problem = SlowAndFast();
  problem.gpus = {2, 6};
  problem.jobs[1].gpus = 4;
  EXPECT_THAT(
      Answer("isolated", problem).shares.jobs,
      ElementsAre(ElementsAre(Near(0.25), Near(0.75)), ElementsAre(Near(0.25), Near(0.75))));
}

TEST(GavelPolicies, AJobThatRunsNowhereIsNamed) {
  GavelProblem problem = SlowAndFast();
  problem.jobs[1].throughput = {0, 0};
  for (const char* policy : {"max_min_fairness_perf", "max_sum_throughput_perf"}) {
    EXPECT_THAT(ErrorOf(policy, problem), HasSubstr("throughputs[\"1\"]: 0 on")) << policy;
  }
}

TEST(GavelProblems, TheReferenceTypeIsV100OrTheFastest) {
  GavelProblem problem = SlowAndFast();
  problem.jobs[0].throughput = {9, 4};
  GavelProblem seen = Seen(problem, GavelView::kAgnostic, GavelUniform::kReference);
  EXPECT_THAT(seen.jobs[0].throughput, ElementsAre(4, 4));
  problem.types[1] = "t4";
  seen = Seen(problem, GavelView::kAgnostic, GavelUniform::kReference);
  EXPECT_THAT(seen.jobs[0].throughput, ElementsAre(9, 9));
}

TEST(GavelProblems, AJobThatDoesNotRunOnTheReferenceTypeIsSeenAsOnItsBest) {
  GavelProblem problem = SlowAndFast();
  problem.jobs[0].throughput = {9, 0};
  const GavelProblem seen = Seen(problem, GavelView::kAgnostic, GavelUniform::kReference);
  EXPECT_THAT(seen.jobs[0].throughput, ElementsAre(9, 9));
  for (GavelJob& job : problem.jobs) job.steps_left = 10;
  EXPECT_EQ(ErrorOf("shortest_job_first", problem), "no error");
}

TEST(GavelMaxMin, PricesMarkTheBindingJob) {
  const GavelProblem problem = {
      .types = {"a"}, .gpus = {2}, .jobs = {JobOf("0", {1}), JobOf("1", {1})}};
  const Result<MaxMinAnswer> answer =
      MaxMin(problem, std::vector<double>{0, 0}, std::vector<double>{4, 1}, NoShares(problem));
  ASSERT_TRUE(answer);
  EXPECT_THAT(answer->level, Near(0.25));
  EXPECT_THAT(answer->prices, ElementsAre(Near(1), Near(0)));
}

TEST(TypePolicies, EachHasAProgramInBothForms) {
  for (const TypePolicyName& policy : TypePolicyNames()) {
    const std::string name(policy.name);
    EXPECT_TRUE(IsTypePolicy(name));
    const TypePolicy aware = ParseTypePolicy(name).value();
    const TypePolicy agnostic = ParseTypePolicy(name + "-agnostic").value();
    EXPECT_TRUE(aware.aware);
    EXPECT_FALSE(agnostic.aware);
    EXPECT_EQ(std::string(agnostic.program) + "_perf", aware.program);
    EXPECT_TRUE(MakeGavelPolicy(aware.program).has_value()) << name;
    EXPECT_TRUE(MakeGavelPolicy(agnostic.program).has_value()) << name;
  }
}

TEST(TypePolicies, AnUnknownOneIsAnsweredWithTheNames) {
  EXPECT_FALSE(IsTypePolicy("las"));
  for (const char* name : {"las", "gavel-luck", "-agnostic", "gavel-las-packed"}) {
    EXPECT_THAT(ParseTypePolicy(name).error().message,
                AllOf(HasSubstr(name), HasSubstr("gavel-las, "), HasSubstr("-agnostic")));
  }
}

}  // namespace
}  // namespace synergy::testing
