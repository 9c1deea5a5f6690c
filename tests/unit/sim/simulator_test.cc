#include "sim/simulator.h"

#include <deque>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

// Rounds of 300 s and a restart cost of 30 s: the first round begins at 1 s, the next ones at 301,
// 601, ...
class SimulatorTest : public ::testing::Test {
 protected:
  // `points`: by default a job that gains nothing from more than its fair share.
  Job MakeJob(Gpus gpus, double arrival, double ideal,
              std::vector<JobProfile::Point> points = {{Cores(1), GB(20), 1}}) {
    profiles_.push_back(*JobProfile::Create(gpus, std::move(points)));
    Job job;
    job.id = profiles_.size();
    job.gpus = gpus;
    job.profile = &profiles_.back();
    job.demand = job.profile->Demand(0);
    job.fair_throughput = job.profile->ThroughputAt(Cores(3) * gpus.count(), GB(60) * gpus.count());
    job.arrival = Seconds(arrival);
    job.ideal = Seconds(ideal);
    return job;
  }

  Result<SimulationRun> TryRun(const std::vector<Job>& jobs, const Policy& policy) {
    Mechanism mechanism = *MakeMechanism("tune");
    return Simulate(servers_, jobs, policy, mechanism, options_);
  }
  SimulationRun Run(const std::vector<Job>& jobs, const Policy& policy = Fifo()) {
    return TryRun(jobs, policy).value();
  }

  std::vector<Server> servers_ = {{{Gpus(8), Cores(24), GB(480)}}};
  SimulatorOptions options_;

 private:
  std::deque<JobProfile> profiles_;  // addresses stay
};

TEST_F(SimulatorTest, AtTheFairShareAJobTakesItsIdealTimeAfterTheRestartCost) {
  const SimulationRun run = Run({MakeJob(Gpus(1), 0, 1000)});
  EXPECT_EQ(run.jobs[0].start, Seconds(1));
  EXPECT_EQ(run.jobs[0].finish, Seconds(1 + 30 + 1000));
  EXPECT_EQ(run.jobs[0].restarts, 0U);
}

TEST_F(SimulatorTest, AJobThatRunsAtTwiceTheSpeedEndsInHalfItsTime) {
  const SimulationRun run =
      Run({MakeJob(Gpus(1), 0, 1000, {{Cores(3), GB(60), 1}, {Cores(9), GB(60), 2}})});
  EXPECT_EQ(run.jobs[0].finish, Seconds(1 + 30 + 500));
}

TEST_F(SimulatorTest, WhoComesDuringARoundStartsAtItsEndThoughGpusAreFree) {
  const SimulationRun run = Run({MakeJob(Gpus(1), 0, 1000), MakeJob(Gpus(1), 2, 100)});
  EXPECT_EQ(run.jobs[1].start, Seconds(301));
  EXPECT_EQ(run.jobs[1].finish, Seconds(301 + 30 + 100));
}

TEST_F(SimulatorTest, GpusThatAreGivenBackDuringARoundAreTakenAtItsEnd) {
  const SimulationRun run = Run({MakeJob(Gpus(8), 0, 1000), MakeJob(Gpus(8), 2, 100)});
  EXPECT_EQ(run.jobs[0].finish, Seconds(1031));
  EXPECT_EQ(run.jobs[1].start, Seconds(1201));
}

TEST_F(SimulatorTest, WhoIsStoppedKeepsItsProgressAndPaysTheRestartCostAgain) {
  const SimulationRun run = Run({MakeJob(Gpus(8), 0, 2000), MakeJob(Gpus(8), 2, 100)}, Srtf());
  EXPECT_EQ(run.jobs[1].start, Seconds(301));
  EXPECT_EQ(run.jobs[1].finish, Seconds(431));
  // From 31 to 301 the first did 270 s of its work; it goes on at 601.
  EXPECT_EQ(run.jobs[0].finish, Seconds(601 + 30 + 2000 - 270));
  EXPECT_EQ(run.jobs[0].restarts, 1U);
  EXPECT_EQ(run.jobs[0].start, Seconds(1));
}

TEST_F(SimulatorTest, ACutIsNoRestart) {
  // Alone the first has 20 cores; beside the second 12.
  const std::vector<JobProfile::Point> points = {{Cores(12), GB(240), 1}, {Cores(20), GB(240), 2}};
  const SimulationRun run =
      Run({MakeJob(Gpus(4), 0, 1000, points), MakeJob(Gpus(4), 2, 1000, points)});
  // 270 s at twice the speed, the rest at the fair share's.
  EXPECT_EQ(run.jobs[0].finish, Seconds(301 + 1000 - 540));
  EXPECT_EQ(run.jobs[0].restarts, 0U);
  EXPECT_EQ(run.jobs[0].resizes, 1U);
}

TEST_F(SimulatorTest, AJobThatSpansServersGoesAtTheFractionOfItsSpeed) {
  servers_.push_back(servers_.front());
  options_.spread_factor = 0.5;
  const SimulationRun run = Run({MakeJob(Gpus(16), 0, 1000)});
  EXPECT_EQ(run.jobs[0].finish, Seconds(1 + 30 + 2000));
}

TEST_F(SimulatorTest, RoundsWithNothingToDecideAreCountedButNotDecided) {
  const SimulationRun run = Run({MakeJob(Gpus(1), 0, 1000)});
  EXPECT_EQ(run.rounds, 4U);
  EXPECT_EQ(run.decided, 1U);
}

TEST_F(SimulatorTest, UtilisationIsTheMeanFromTheFirstArrivalToTheLastFinish) {
  const SimulationRun run = Run({MakeJob(Gpus(4), 100, 1000, {{Cores(12), GB(120), 1}})});
  EXPECT_EQ(run.begin, Seconds(100));
  EXPECT_EQ(run.end, Seconds(1131));
  EXPECT_DOUBLE_EQ(run.gpu_utilisation, 0.5 * 1030 / 1031);
  EXPECT_DOUBLE_EQ(run.cpu_utilisation, 0.5 * 1030 / 1031);
  EXPECT_DOUBLE_EQ(run.memory_utilisation, 0.25 * 1030 / 1031);
}

TEST_F(SimulatorTest, ResultsAreInTheOrderOfTheInput) {
  const SimulationRun run = Run({MakeJob(Gpus(1), 500, 10), MakeJob(Gpus(1), 0, 10)});
  EXPECT_EQ(run.jobs[0].arrival, Seconds(500));
  EXPECT_EQ(run.jobs[0].start, Seconds(601));
  EXPECT_EQ(run.jobs[1].start, Seconds(1));
}

TEST_F(SimulatorTest, NothingToRunTakesNoTime) { EXPECT_EQ(Run({}).rounds, 0U); }

TEST_F(SimulatorTest, AJobThatTheClusterNeverRunsIsRefused) {
  const auto run = TryRun({MakeJob(Gpus(9), 0, 10)}, Fifo());
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(run.error().message, HasSubstr("asks for 9 GPUs, but the cluster has 8"));
}

TEST_F(SimulatorTest, GivesUpAfterTheLimitAndNamesAJob) {
  options_.limit = Seconds(86400);
  const auto run = TryRun({MakeJob(Gpus(8), 0, 1e6), MakeJob(Gpus(8), 0, 10)}, Fifo());
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, HasSubstr("job 2 is the first"));
}

}  // namespace
}  // namespace synergy::testing
