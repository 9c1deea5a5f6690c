#include "research/optimus/elastic_simulator.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

// Returns iterations per second with 1, 2, 4 and 8 workers: `linear` is twice as fast with twice as
// many, `flat` never faster.
GavelThroughputs PoolSpeeds() {
  return GavelThroughputs::Parse(
             "model,gpus,gpu\nlinear,1,10\nlinear,2,20\nlinear,4,40\nlinear,8,80\n"
             "flat,1,10\nflat,2,10\nflat,4,10\nflat,8,10\nsingle,1,10\n",
             "speeds")
      .value();
}

struct PoolJob {
  const char* model;
  int64_t gpus;
  int64_t steps;
  double submitted = 0;
};

ElasticRun RunPool(ElasticPolicy policy, int gpus, const std::vector<PoolJob>& asked,
                   uint64_t seed = 0) {
  std::vector<GavelTraceJob> jobs;
  for (const PoolJob& job : asked) {
    GavelTraceJob made;
    made.id = static_cast<int64_t>(jobs.size());
    made.model = job.model;
    made.gpus = job.gpus;
    made.steps = job.steps;
    made.submitted = Seconds(job.submitted);
    jobs.push_back(made);
  }
  return SimulateElastic(jobs, PoolSpeeds(),
                         {.policy = policy,
                          .gpus = gpus,
                          .type = "gpu",
                          .round = Seconds(100),
                          .restart_cost = Seconds(10),
                          .seed = seed,
                          .on_finished = {}})
      .value();
}

double EndOf(const ElasticRun& run, size_t job) { return run.jobs[job].finished->count(); }

TEST(ElasticSimulatorTest, SrtfRunsTheShortestWithWhatItAsksFor) {
  // There are 2 GPUs. The second and third job go first, for 10 s + 500 / 10 s; the first starts
  // with the next round.
  const ElasticRun run = RunPool(ElasticPolicy::kSrtf, 2,
                                 {{"linear", 2, 20'000}, {"linear", 1, 500}, {"single", 1, 500}});
  EXPECT_DOUBLE_EQ(EndOf(run, 1), 60);
  EXPECT_DOUBLE_EQ(EndOf(run, 2), 60);
  EXPECT_EQ(run.jobs[0].started, Seconds(100));
  EXPECT_DOUBLE_EQ(EndOf(run, 0), 100 + 10 + 1000);
  EXPECT_EQ(run.restarts, 0U);
}

TEST(ElasticSimulatorTest, EqualSharesAreWholeAndKeepBounds) {
  // There are 5 GPUs: 3, 1 (the job's most) and 1 (its model's most), and then 5 for the first,
  // which restarts once.
  const ElasticRun run = RunPool(ElasticPolicy::kEqual, 5,
                                 {{"linear", 1, 7'000}, {"single", 1, 900}, {"single", 1, 900}});
  EXPECT_DOUBLE_EQ(EndOf(run, 1), 100);
  // After 90 s at 30/s, 4300 of 7000 iterations are left, which at 50/s take 10 s + 86 s.
  EXPECT_DOUBLE_EQ(EndOf(run, 0), 100 + 10 + 86);
  EXPECT_EQ(run.restarts, 1U);
}

TEST(ElasticSimulatorTest, OptimusGivesWorkersWhereTheyHelp) {
  // Both jobs could have 4 of the 8 GPUs. Workers that do not help one job go to the other.
  const ElasticRun run =
      RunPool(ElasticPolicy::kOptimusExact, 8, {{"flat", 4, 900}, {"linear", 4, 6'300}});
  EXPECT_DOUBLE_EQ(EndOf(run, 0), 10 + 90);
  EXPECT_DOUBLE_EQ(EndOf(run, 1), 10 + 90);
  const ElasticRun equal =
      RunPool(ElasticPolicy::kEqual, 8, {{"flat", 4, 900}, {"linear", 4, 6'300}});
  EXPECT_DOUBLE_EQ(EndOf(equal, 1), 100 + 10 + (6'300 - 90 * 40) / 80.0);
}

TEST(ElasticSimulatorTest, TriesAFittedJobFirst) {
  // In the first round the job has its least, and four trials; then it has all workers.
  const ElasticRun run = RunPool(ElasticPolicy::kOptimus, 8, {{"linear", 1, 6'200}});
  EXPECT_DOUBLE_EQ(EndOf(run, 0), 100 + 10 + (6'200 - 60 * 10) / 80.0);
  EXPECT_EQ(run.restarts, 1U);
}

TEST(ElasticSimulatorTest, JobsArriveAtTheNextRoundAndIdleTimeIsPassedOver) {
  const ElasticRun run =
      RunPool(ElasticPolicy::kEqual, 8, {{"single", 1, 100, 1'234}, {"single", 1, 100, 50}});
  EXPECT_EQ(run.jobs[1].started, Seconds(100));
  EXPECT_EQ(run.jobs[0].started, Seconds(1'300));
  EXPECT_DOUBLE_EQ(EndOf(run, 0), 1'320);
  EXPECT_EQ(run.rounds, 2U);
  EXPECT_DOUBLE_EQ(run.gpu_utilisation, 40 / (8 * 1'320.0));
}

TEST(ElasticSimulatorTest, TheSameSeedGivesTheSameRun) {
  std::vector<PoolJob> jobs;
  for (int i = 0; i < 20; ++i)
    jobs.push_back({i % 2 == 0 ? "linear" : "flat", 1, 20'000, 50.0 * i});
  const auto ends = [&](uint64_t seed) {
    const ElasticRun run = RunPool(ElasticPolicy::kOptimus, 6, jobs, seed);
    std::vector<double> all;
    for (size_t i = 0; i < jobs.size(); ++i) all.push_back(EndOf(run, i));
    return all;
  };
  EXPECT_EQ(ends(1), ends(1));
  EXPECT_NE(ends(1), ends(2));
}

TEST(ElasticSimulatorTest, RefusesJobsThatCannotRun) {
  GavelTraceJob job;
  job.id = 7;
  job.model = "linear";
  job.gpus = 8;
  job.steps = 1;
  const auto run = SimulateElastic(std::vector{job}, PoolSpeeds(),
                                   {.gpus = 4, .type = "gpu", .on_finished = {}});
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("job 7 asks for 8 GPUs of 4"));
  const auto policy = ParseElasticPolicy("fifo");
  ASSERT_FALSE(policy);
  EXPECT_THAT(policy.error().message, HasSubstr("one of optimus, optimus-exact, srtf, equal"));
  EXPECT_EQ(ParseElasticPolicy("equal"), ElasticPolicy::kEqual);
}

}  // namespace
}  // namespace synergy::testing
