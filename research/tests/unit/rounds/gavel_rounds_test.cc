#include "research/rounds/gavel_rounds.h"

#include <deque>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "research/rounds/type_profiles.h"

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

// Tests one server of each of two types, with 4 GPUs, 12 cores and 240 GB. The first round begins
// at 1 s.
class GavelRoundsTest : public ::testing::Test {
 protected:
  // Adds a job. `slow`: its speed on the second type relative to the first; if 0, it does not run
  // there.
  void Add(double arrival, double ideal, double slow, Gpus gpus = Gpus(1),
           std::vector<JobProfile::Point> points = {{Cores(1), GB(20), 1}}) {
    profiles_.push_back(*Scaled(*JobProfile::Create(Gpus(1), std::move(points)), gpus));
    Job job;
    job.id = jobs_.size();
    job.gpus = gpus;
    job.profile = &profiles_.back();
    job.demand = job.profile->Demand(0);
    job.fair_throughput = job.profile->ThroughputAt(Cores(3) * gpus.count(), GB(60) * gpus.count());
    job.arrival = Seconds(arrival);
    job.ideal = Seconds(ideal);
    jobs_.push_back(job);
    on_types_.push_back({job.profile, nullptr});
    if (slow <= 0) return;
    profiles_.push_back(OnOtherGpu(*job.profile, slow));
    on_types_.back().back() = &profiles_.back();
  }

  Result<SimulationRun> TryRun(const std::string& policy,
                               const std::string& mechanism = "synergy-rounds",
                               Seconds restart_cost = {}) {
    auto rounds = GavelRounds::Create(
        servers_, jobs_, on_types_,
        {.policy = policy, .mechanism = mechanism, .restart_cost = restart_cost});
    if (!rounds) return Fail(rounds.error());
    return SimulateRounds(servers_.All(), jobs_, *rounds, {.keep_changes = true});
  }
  SimulationRun Run(const std::string& policy, const std::string& mechanism = "synergy-rounds",
                    Seconds restart_cost = {}) {
    return TryRun(policy, mechanism, restart_cost).value();
  }

  TypedServers servers_{.types = {"fast", "slow"},
                        .counts = {1, 1},
                        .server = {Gpus(4), Cores(12), GB(240)},
                        .costs = {}};

 private:
  std::deque<JobProfile> profiles_;  // a deque, so that addresses stay valid
  std::vector<Job> jobs_;
  std::vector<ProfilesOnTypes> on_types_;
};

TEST_F(GavelRoundsTest, AloneAJobHasTheFastestTypeAndNeverMoves) {
  Add(0, 10000, 0.5);
  for (const char* policy : {"gavel-las", "gavel-fifo", "gavel-sjf", "gavel-makespan"}) {
    const SimulationRun run = Run(policy);
    EXPECT_EQ(run.jobs[0].finish, Seconds(1 + 30 + 10000)) << policy;
    EXPECT_EQ(run.jobs[0].restarts, 0U) << policy;
    EXPECT_EQ(run.changes.front().node, "node-0001") << policy;
  }
}

TEST_F(GavelRoundsTest, OnASlowTypeItGoesAsFastAsThatOneAllows) {
  for (int job = 0; job < 4; ++job) Add(0, 40000, 0.5);
  Add(0.5, 10000, 0.5);
  const SimulationRun run = Run("gavel-fifo");
  EXPECT_EQ(run.jobs[3].finish, Seconds(1 + 30 + 40000));
  EXPECT_EQ(run.jobs[4].finish, Seconds(1 + 30 + 20000));
}

TEST_F(GavelRoundsTest, AwareTheOneThatLosesLeastHasTheSlowType) {
  servers_.server = {Gpus(1), Cores(3), GB(60)};
  Add(0, 30000, 1);
  Add(0, 30000, 0.1);
  const SimulationRun aware = Run("gavel-las");
  const SimulationRun agnostic = Run("gavel-las-agnostic");
  EXPECT_LT(aware.jobs[1].finish, Seconds(1.1 * 30000));
  EXPECT_GT(agnostic.jobs[1].finish, Seconds(1.3 * 30000));
  EXPECT_GT(agnostic.jobs[1].restarts, 10U);  // they take turns
}

TEST_F(GavelRoundsTest, SynergyDividesEachServer) {
  // Four jobs share a server; one of them can use what the others leave.
  Add(0, 10000, 0, Gpus(1), {{Cores(3), GB(60), 1}, {Cores(9), GB(60), 3}});
  for (int job = 0; job < 3; ++job) Add(0, 10000, 0);
  EXPECT_EQ(Run("gavel-las").jobs[0].finish.count(), 1 + 30 + 10000.0 / 3);
  EXPECT_EQ(Run("gavel-las", "proportional").jobs[0].finish, Seconds(1 + 30 + 10000));
}

TEST_F(GavelRoundsTest, StepsThatDoNotDivideByTheGpusAreDone) {
  Add(0, 1234.5, 0.5, Gpus(3));
  EXPECT_EQ(Run("gavel-las").jobs[0].finish, Seconds(1 + 30 + 1234.5));
}

TEST_F(GavelRoundsTest, ArrivalAfterTheLastSolveGetsIdleGpus) {
  Add(0, 20000, 0.5);
  Add(310, 1000, 0.5);
  EXPECT_EQ(Run("gavel-las").jobs[1].start, Seconds(310));
}

TEST_F(GavelRoundsTest, GpusFreedWithinARoundAreUsedAtOnce) {
  servers_.server = {Gpus(1), Cores(3), GB(60)};
  Add(0, 100, 0);
  Add(0, 1000, 0);
  for (const char* policy : {"gavel-las", "gavel-fifo", "gavel-sjf"}) {
    const SimulationRun run = Run(policy);
    EXPECT_EQ(run.jobs[1].start, run.jobs[0].finish) << policy;
    EXPECT_EQ(run.jobs[0].finish, Seconds(1 + 30 + 100)) << policy;
    EXPECT_EQ(run.jobs[1].finish, Seconds(131 + 30 + 1000)) << policy;
  }
}

TEST_F(GavelRoundsTest, DecisionsWithinARoundAreReviewedAtTheNextOne) {
  // The second job arrives while the fast GPU is in use. It gets that GPU when the GPU is free and
  // a round begins.
  servers_.server = {Gpus(1), Cores(3), GB(60)};
  Add(0, 100, 0.5);
  Add(50, 10000, 0.5);
  const SimulationRun run = Run("gavel-las");
  EXPECT_EQ(run.jobs[1].start, Seconds(50));
  EXPECT_EQ(run.jobs[1].restarts, 1U);
  const double on_slow = 0.5 * (301 - 50 - 30);
  EXPECT_NEAR(run.jobs[1].finish.count(), 301 + 30 + 10000 - on_slow, 1e-6);
}

TEST_F(GavelRoundsTest, AMoveHasToBeWorthWhatItCosts) {
  servers_.server = {Gpus(1), Cores(3), GB(60)};
  Add(0, 100, 0);
  Add(50, 10000, 0.95);
  const SimulationRun run = Run("gavel-las", "synergy-rounds", Seconds(30));
  EXPECT_EQ(run.jobs[1].restarts, 0U);
  EXPECT_GT(Run("gavel-las").jobs[1].restarts, 0U);
}

TEST_F(GavelRoundsTest, AJobThatNoTypeHoldsIsNamed) {
  Add(0, 1000, 0.5, Gpus(8));
  EXPECT_THAT(TryRun("gavel-las").error().message,
              AllOf(HasSubstr("job 0 with 8 GPUs"), HasSubstr("fast, slow")));
  EXPECT_FALSE(TryRun("las").has_value());
  EXPECT_FALSE(TryRun("gavel-las", "luck").has_value());
}

TEST_F(GavelRoundsTest, GpusThatWouldIdleAreUsedWhateverTheyCost) {
  servers_.costs = {10, 1};
  Add(0, 1000, 0.5);
  EXPECT_EQ(Run("gavel-cost").jobs[0].finish, Seconds(1 + 30 + 1000));
  servers_.costs = {};
  EXPECT_THAT(TryRun("gavel-cost").error().message, HasSubstr("instance_costs"));
}

}  // namespace
}  // namespace synergy::testing
