#include "research/gavel/gavel_simulator.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

GavelThroughputs Rates() {
  return GavelThroughputs::Parse("model,gpus,a,b\nsteady,1,1,0.5\nsteady,2,2,0\nodd,1,0.251,0\n",
                                 "rates")
      .value();
}

GavelOptions OnOneType(double gpus, const std::string& policy) {
  return {.types = {"a"},
          .gpus = {gpus},
          .costs = {},
          .policy = policy,
          .on_solve = {},
          .on_finished = {}};
}

GavelTraceJob MakeGavelJob(int64_t id, double submitted, int64_t steps,
                           const std::string& model = "steady", int64_t gpus = 1) {
  return {.id = id,
          .model = model,
          .gpus = gpus,
          .steps = steps,
          .slo = std::nullopt,
          .submitted = Seconds(submitted)};
}

GavelRun Simulated(const std::vector<GavelTraceJob>& jobs, const GavelOptions& options) {
  const auto run = SimulateGavel(jobs, Rates(), options);
  EXPECT_TRUE(run) << run.error().message;
  return run.value_or(GavelRun{});
}

std::string Refused(const std::vector<GavelTraceJob>& jobs, const GavelOptions& options) {
  const auto run = SimulateGavel(jobs, Rates(), options);
  return run ? "no error" : run.error().message;
}

TEST(GavelSimulatorTest, ARoundIsOfWholeIterationsAndEndsWithTheLastOfThem) {
  // The job does 90 iterations in the 360 s of the first round, and ten in the second.
  const GavelRun run = Simulated({MakeGavelJob(0, 50, 100, "odd")}, OnOneType(1, "fifo_perf"));
  EXPECT_EQ(run.jobs[0].started, Seconds(50));
  EXPECT_NEAR(run.jobs[0].finished->count(), 50 + 100 / 0.251, 1e-9);
  EXPECT_EQ(run.rounds, 2U);
}

TEST(GavelSimulatorTest, AGpuThatIsFreeBeforeTheRoundEndsIdlesUntilThen) {
  const GavelRun run =
      Simulated({MakeGavelJob(0, 0, 10), MakeGavelJob(1, 0, 720), MakeGavelJob(2, 5, 10)},
                OnOneType(2, "fifo_perf"));
  EXPECT_EQ(run.jobs[0].finished, Seconds(10));
  EXPECT_EQ(run.jobs[2].started, Seconds(360));
  EXPECT_EQ(run.jobs[1].finished, Seconds(720));
}

TEST(GavelSimulatorTest, AJobThatCameAfterTheLastSolveIdlesUntilTheNext) {
  // The first solve is at 100. The first round that begins at least 1920 s later begins at 2260.
  const GavelRun run = Simulated({MakeGavelJob(0, 100, 3600), MakeGavelJob(1, 200, 10)},
                                 OnOneType(2, "max_min_fairness_perf"));
  EXPECT_EQ(run.jobs[1].started, Seconds(2260));
}

TEST(GavelSimulatorTest, NextRoundBeginsWithTheSolveIfNoJobMayRun) {
  const GavelRun run =
      Simulated({MakeGavelJob(0, 100, 1000), MakeGavelJob(1, 100, 10)}, OnOneType(1, "fifo_perf"));
  EXPECT_EQ(run.jobs[0].finished, Seconds(1100));
  EXPECT_EQ(run.jobs[1].started, Seconds(2020));
}

TEST(GavelSimulatorTest, JobsOfATraceThatIsOutOfOrderComeWhenTheyWereSubmitted) {
  const GavelRun run =
      Simulated({MakeGavelJob(0, 5000, 10), MakeGavelJob(1, 0, 10)}, OnOneType(1, "fifo_perf"));
  EXPECT_EQ(run.jobs[0].finished, Seconds(5010));
  EXPECT_EQ(run.jobs[1].finished, Seconds(10));
}

TEST(GavelSimulatorTest, ReportsEachSolveAndEachEnd) {
  GavelOptions options = OnOneType(1, "max_min_fairness_perf");
  std::vector<double> waited;
  size_t finished = 0;
  options.on_solve = [&](const GavelSolve& solve) {
    waited.push_back(solve.problem.jobs[0].waited);
    EXPECT_TRUE(solve.answer.objective);
  };
  options.on_finished = [&](size_t count) { finished = count; };
  GavelTraceJob with_deadline = MakeGavelJob(0, 0, 500);
  with_deadline.slo = 2;
  const GavelRun run = Simulated({with_deadline, MakeGavelJob(1, 10, 10)}, options);
  EXPECT_EQ(run.solves, waited.size());
  EXPECT_EQ(waited[1], 360);
  EXPECT_EQ(finished, 2U);
}

TEST(GavelSimulatorTest, DeadlinesCountFromTheSubmissionByTheFastestType) {
  GavelOptions options = OnOneType(1, "max_min_fairness_perf");
  options.types = {"a", "b"};
  options.gpus = {1, 1};
  std::vector<double> deadlines;
  options.on_solve = [&](const GavelSolve& solve) {
    deadlines.push_back(solve.problem.jobs[0].deadline.value_or(-1));
  };
  GavelTraceJob job = MakeGavelJob(0, 0, 500);
  job.slo = 1.2;
  Simulated({job, MakeGavelJob(1, 10, 10)}, options);
  ASSERT_GE(deadlines.size(), 2U);
  EXPECT_NEAR(deadlines[0], 600, 1e-9);
  EXPECT_NEAR(deadlines[1], 240, 1e-9);
}

TEST(GavelSimulatorTest, TwoThatShareAGpuHoldItUntilBothHaveMadeTheirRound) {
  // Together they do 0.8 and 0.2 iterations per second.
  const auto rates = GavelThroughputs::WithPairs(
      Rates(), "first,second,a_first,a_second,b_first,b_second\nsteady,odd,0.8,0.2,0,0\n", "pairs");
  ASSERT_TRUE(rates) << rates.error().message;
  const auto run =
      SimulateGavel(std::vector{MakeGavelJob(0, 0, 1000), MakeGavelJob(1, 0, 20, "odd")}, *rates,
                    OnOneType(1, "max_min_fairness_packed"));
  ASSERT_TRUE(run) << run.error().message;
  // 20 iterations take 100 s; the other's round takes 360 s.
  EXPECT_EQ(run->jobs[0].started, Seconds(0));
  EXPECT_EQ(run->jobs[1].started, Seconds(0));
  EXPECT_EQ(run->jobs[1].finished, Seconds(360));
  EXPECT_NEAR(run->jobs[0].finished->count(), 360 + (1000 - 288), 1e-9);
}

TEST(GavelSimulatorTest, PolicyWithoutTypesIgnoresTheirOrder) {
  GavelOptions options = OnOneType(1, "max_min_fairness_perf");
  options.types = {"a", "b"};
  options.gpus = {1, 1};
  const std::vector<GavelTraceJob> alone = {MakeGavelJob(0, 0, 3600)};
  EXPECT_EQ(Simulated(alone, options).jobs[0].finished, Seconds(3600));
  // In some of its rounds it is on the second type, where it is half as fast.
  options.policy = "max_min_fairness";
  const Seconds end = *Simulated(alone, options).jobs[0].finished;
  EXPECT_GT(end, Seconds(3600));
  EXPECT_LT(end, Seconds(7200));
  EXPECT_EQ(Simulated(alone, options).jobs[0].finished, end);
}

TEST(GavelSimulatorTest, RefusesJobsThatCannotRun) {
  const GavelOptions fifo = OnOneType(1, "fifo_perf");
  EXPECT_THAT(Refused({MakeGavelJob(7, 0, 10, "steady", 2)}, fifo),
              HasSubstr("job 7: steady on 2 GPUs runs on no type with enough GPUs"));
  EXPECT_THAT(Refused({MakeGavelJob(7, 0, 10, "new")}, fifo),
              HasSubstr("job 7: there are no throughputs"));
  EXPECT_THAT(Refused({MakeGavelJob(0, 0, 10)}, OnOneType(1, "fifo_packed")), HasSubstr("pairs"));
  EXPECT_THAT(Refused({MakeGavelJob(0, 0, 10)}, OnOneType(1, "best")),
              HasSubstr("unknown policy 'best'"));
  EXPECT_THAT(Refused({MakeGavelJob(0, 0, 10)}, OnOneType(1, "hierarchical_perf")),
              HasSubstr("entities: missing"));
}

}  // namespace
}  // namespace synergy::testing
