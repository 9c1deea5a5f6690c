#include "research/rounds/simulator.h"

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

// Tests rounds of 300 s with a restart cost of 30 s. The first round begins at 1 s, the next ones
// at 301, 601, ...
class SimulatorTest : public ::testing::Test {
 protected:
  // Returns a job. `points`: by default it gains nothing from more than its fair share.
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
  std::deque<JobProfile> profiles_;  // a deque, so that addresses stay valid
};

TEST_F(SimulatorTest, AtTheFairShareAJobTakesItsIdealTimeAfterTheRestartCost) {
  const SimulationRun run = Run({MakeJob(Gpus(1), 0, 1000)});
  EXPECT_EQ(run.jobs[0].start, Seconds(1));
  EXPECT_EQ(run.jobs[0].finish, Seconds(1 + 30 + 1000));
  EXPECT_EQ(run.jobs[0].restarts, 0U);
}

TEST_F(SimulatorTest, TheFirstPartIsDoneAfterTheRestartCostAndItsWork) {
  std::vector<Job> jobs = {
      MakeJob(Gpus(1), 0, 1000, {{Cores(3), GB(60), 1}, {Cores(9), GB(60), 2}})};
  jobs[0].first_part = Seconds(100);
  EXPECT_NEAR(Run(jobs).jobs[0].first_part.count(), 1 + 30 + 50, 1e-6);
  jobs[0].first_part = jobs[0].ideal;
  const SimulationRun all = Run(jobs);
  EXPECT_NEAR(all.jobs[0].first_part.count(), all.jobs[0].finish.count(), 1e-3);
}

TEST_F(SimulatorTest, UnderQueuesANewJobTakesThePlaceOfOneThatWasServedToItsLimit) {
  const auto policy = *MakePolicy("2d-las", {.queues = {.limits = {8 * 500}}});
  const SimulationRun run = Run({MakeJob(Gpus(8), 0, 2000), MakeJob(Gpus(8), 2, 100)}, *policy);
  EXPECT_EQ(run.jobs[1].start, Seconds(601));  // the first round after 500 s
  EXPECT_EQ(run.jobs[0].restarts, 1U);
}

TEST_F(SimulatorTest, ALeaseKeepsAJobInItsPlaceUntilItIsOver) {
  options_.lease = Seconds(900);
  const SimulationRun run = Run({MakeJob(Gpus(8), 0, 2000), MakeJob(Gpus(8), 2, 100)}, Las());
  EXPECT_EQ(run.jobs[1].start, Seconds(901));
  options_.lease = Seconds(0);
  const SimulationRun without = Run({MakeJob(Gpus(8), 0, 2000), MakeJob(Gpus(8), 2, 100)}, Las());
  EXPECT_EQ(without.jobs[1].start, Seconds(301));
}

TEST_F(SimulatorTest, AJobThatRunsAtTwiceTheSpeedEndsInHalfItsTime) {
  const SimulationRun run =
      Run({MakeJob(Gpus(1), 0, 1000, {{Cores(3), GB(60), 1}, {Cores(9), GB(60), 2}})});
  EXPECT_EQ(run.jobs[0].finish, Seconds(1 + 30 + 500));
}

TEST_F(SimulatorTest, ArrivalDuringARoundStartsAtItsEnd) {
  const SimulationRun run = Run({MakeJob(Gpus(1), 0, 1000), MakeJob(Gpus(1), 2, 100)});
  EXPECT_EQ(run.jobs[1].start, Seconds(301));
  EXPECT_EQ(run.jobs[1].finish, Seconds(301 + 30 + 100));
}

TEST_F(SimulatorTest, GpusThatAreGivenBackDuringARoundAreTakenAtItsEnd) {
  const SimulationRun run = Run({MakeJob(Gpus(8), 0, 1000), MakeJob(Gpus(8), 2, 100)});
  EXPECT_EQ(run.jobs[0].finish, Seconds(1031));
  EXPECT_EQ(run.jobs[1].start, Seconds(1201));
}

TEST_F(SimulatorTest, StoppedJobKeepsItsProgressAndPaysTheRestartAgain) {
  const SimulationRun run = Run({MakeJob(Gpus(8), 0, 2000), MakeJob(Gpus(8), 2, 100)}, Srtf());
  EXPECT_EQ(run.jobs[1].start, Seconds(301));
  EXPECT_EQ(run.jobs[1].finish, Seconds(431));
  // From 31 to 301 the first job did 270 s of its work; it resumes at 601.
  EXPECT_EQ(run.jobs[0].finish, Seconds(601 + 30 + 2000 - 270));
  EXPECT_EQ(run.jobs[0].restarts, 1U);
  EXPECT_EQ(run.jobs[0].start, Seconds(1));
}

TEST_F(SimulatorTest, ACutIsNoRestart) {
  // Alone, the first job has 20 cores; beside the second one it has 12.
  const std::vector<JobProfile::Point> points = {{Cores(12), GB(240), 1}, {Cores(20), GB(240), 2}};
  const SimulationRun run =
      Run({MakeJob(Gpus(4), 0, 1000, points), MakeJob(Gpus(4), 2, 1000, points)});
  // The first job ran 270 s at twice the fair share's speed, and the rest at the fair share's
  // speed.
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

TEST_F(SimulatorTest, ChangesListEveryShareInTheOrderOfTime) {
  options_.keep_changes = true;
  servers_.push_back(servers_.front());
  // The second job has the rest of one server until the first one ends.
  const SimulationRun run = Run({MakeJob(Gpus(12), 0, 700), MakeJob(Gpus(4), 2, 100)});
  using Kind = PlaceChange::Kind;
  const auto job = [](const PlaceChange& change) { return change.job.value(); };
  ASSERT_EQ(run.changes.size(), 6U);
  for (size_t share = 0; share < 2; ++share) {
    EXPECT_EQ(job(run.changes[share]), 1U);
    EXPECT_EQ(run.changes[share].at, Seconds(1));
    EXPECT_EQ(run.changes[share].kind, Kind::kBound);
    EXPECT_EQ(run.changes[share].pod, "job-1-" + std::to_string(share));
  }
  EXPECT_EQ(run.changes[0].amounts.gpus + run.changes[1].amounts.gpus, Gpus(12));
  EXPECT_NE(run.changes[0].node, run.changes[1].node);
  EXPECT_EQ(job(run.changes[2]), 2U);
  EXPECT_EQ(run.changes[2].at, Seconds(301));
  EXPECT_EQ(run.changes[2].kind, Kind::kBound);
  EXPECT_EQ(run.changes[3].kind, Kind::kGone);
  EXPECT_EQ(run.changes[3].at, run.jobs[1].finish);
  EXPECT_EQ(job(run.changes[4]), 1U);
  EXPECT_EQ(run.changes[4].kind, Kind::kGone);
  EXPECT_EQ(run.changes[5].at, run.jobs[0].finish);
}

TEST_F(SimulatorTest, StoppedJobIsGoneBeforeAnotherIsBound) {
  options_.keep_changes = true;
  const SimulationRun run = Run({MakeJob(Gpus(8), 0, 2000), MakeJob(Gpus(8), 2, 100)}, Srtf());
  ASSERT_GE(run.changes.size(), 3U);
  EXPECT_EQ(run.changes[1].job, 1U);
  EXPECT_EQ(run.changes[1].kind, PlaceChange::Kind::kGone);
  EXPECT_EQ(run.changes[2].job, 2U);
  EXPECT_EQ(run.changes[2].kind, PlaceChange::Kind::kBound);
  EXPECT_EQ(run.changes[1].at, run.changes[2].at);
}

TEST_F(SimulatorTest, ACutIsAResizeOfTheShare) {
  options_.keep_changes = true;
  const std::vector<JobProfile::Point> points = {{Cores(12), GB(240), 1}, {Cores(20), GB(240), 2}};
  const SimulationRun run =
      Run({MakeJob(Gpus(4), 0, 1000, points), MakeJob(Gpus(4), 2, 1000, points)});
  const auto resized = std::find_if(run.changes.begin(), run.changes.end(), [](const auto& change) {
    return change.kind == PlaceChange::Kind::kResized;
  });
  ASSERT_NE(resized, run.changes.end());
  EXPECT_EQ(resized->job, 1U);
  EXPECT_EQ(resized->pod, "job-1-0");
  EXPECT_EQ(resized->amounts.cpu, Cores(12));
}

TEST_F(SimulatorTest, KeepsNoChangesUnlessConfigured) {
  EXPECT_TRUE(Run({MakeJob(Gpus(1), 0, 1000)}).changes.empty());
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
