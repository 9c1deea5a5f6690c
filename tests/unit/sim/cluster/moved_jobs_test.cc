// Tests running jobs of the simulated product that move so that a waiting job fits. Nothing takes
// time but what a test says, so that all times are exact.

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/cluster/product_simulator.h"

namespace synergy::testing {
namespace {

constexpr double kLongWork = 36'000;
constexpr double kWaiterWork = 3600;

class MovedJobsTest : public ::testing::Test {
 protected:
  MovedJobsTest() {
    options.latencies = {.schedule = {}, .bind = {}, .tune = {}, .start = {}, .resize = {}};
    options.restart_cost = std::chrono::seconds(60);
    options.keep_changes = true;
    options.moves.emplace();
  }

  static ProductJob Job(uint64_t id, double arrival, int64_t gpus, double work,
                        const std::string& model = "flat") {
    return {id, model, Gpus(gpus), Seconds(arrival), Seconds(work), 1};
  }
  // Jobs 0 and 2 fill one node of four GPUs, jobs 1 and 3 another. Jobs 2 and 3 end at 1060 s,
  // which leaves two GPUs of each node, and at 1200 s job 4 asks for four.
  static std::vector<ProductJob> Fragments() {
    return {Job(0, 0, 2, kLongWork), Job(1, 0, 2, kLongWork), Job(2, 1, 2, 999), Job(3, 1, 2, 999),
            Job(4, 1200, 4, kWaiterWork)};
  }

  SimulationRun Simulate(const std::vector<ProductJob>& jobs, size_t nodes = 2) const {
    ModelProfiles profiles;
    for (const char* model : {"flat", "other"}) {
      profiles.Set(model, std::make_shared<const JobProfile>(
                              *JobProfile::Create(Gpus(1), {{Cores(1), GiB(10), 1}})));
    }
    auto run =
        SimulateProduct(ClusterOf(nodes, {Gpus(4), Cores(8), GiB(80)}), jobs, profiles, options);
    EXPECT_TRUE(run) << run.error().message;
    return run ? *std::move(run) : SimulationRun{};
  }

  // Returns the nodes of the job's pods in the order of binding.
  static std::vector<std::string> NodesOf(const SimulationRun& run, uint64_t job) {
    std::vector<std::string> nodes;
    for (const PlaceChange& change : run.changes) {
      if (change.job == job && change.kind == PlaceChange::Kind::kBound)
        nodes.push_back(change.node);
    }
    return nodes;
  }
  static uint32_t Restarts(const SimulationRun& run) {
    uint32_t restarts = 0;
    for (const JobRun& job : run.jobs) restarts += job.restarts;
    return restarts;
  }

  ProductOptions options;
};

TEST_F(MovedJobsTest, OneMoveMakesRoomOfFragmentsAtExactlyTheseTimes) {
  const SimulationRun run = Simulate(Fragments());
  ASSERT_TRUE(run.moves);
  EXPECT_EQ(run.moves->moves, 1U);
  EXPECT_EQ(run.moves->in_vain, 0U);
  // Job 4 has waited for ten minutes at 1800 s, and starts on the node that job 0 leaves.
  EXPECT_EQ(run.jobs[4].start, Seconds(1800));
  EXPECT_EQ(run.jobs[4].finish, Seconds(1800 + 60 + kWaiterWork));
  EXPECT_EQ(run.jobs[4].restarts, 0U);
  // Job 0 has trained for 1740 s. Its pod is created again 10 s later, and trains after 60 s.
  EXPECT_EQ(run.jobs[0].restarts, 1U);
  EXPECT_EQ(run.jobs[0].finish, Seconds(1810 + 60 + kLongWork - 1740));
  EXPECT_EQ(run.moves->gpu_time_lost, Seconds(2 * 70));
  EXPECT_EQ(run.jobs[1].restarts, 0U);
  EXPECT_EQ(run.jobs[1].finish, Seconds(60 + kLongWork));
  const std::vector<std::string> first = NodesOf(run, 0);
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[1], NodesOf(run, 1).front());
  EXPECT_EQ(NodesOf(run, 4), (std::vector<std::string>{first[0]}));
}

TEST_F(MovedJobsTest, WithoutMovesTheJobWaitsForTheLongOnes) {
  options.moves.reset();
  const SimulationRun run = Simulate(Fragments());
  EXPECT_FALSE(run.moves);
  EXPECT_EQ(run.jobs[4].start, Seconds(60 + kLongWork));
  EXPECT_EQ(Restarts(run), 0U);
}

TEST_F(MovedJobsTest, AMoveBeginsAfterTheChosenWait) {
  options.moves->after = std::chrono::seconds(90);
  EXPECT_EQ(Simulate(Fragments()).jobs[4].start, Seconds(1290));
}

// Job 0 ends 60 s after its restart at the latest: 4 GPUs would gain at most 120 s each, and 2 lose
// 60 s each.
TEST_F(MovedJobsTest, AMoveGainsMoreThanTwiceItsCost) {
  std::vector<ProductJob> jobs = Fragments();
  for (const double wait : {60.0, 61.0}) {
    SCOPED_TRACE(wait);
    jobs[0].ideal = Seconds(1740 + wait);  // it has `wait` left at 1800 s
    const SimulationRun run = Simulate(jobs);
    EXPECT_EQ(run.moves->moves, wait > 60 ? 1U : 0U);
  }
}

TEST_F(MovedJobsTest, NoJobMovesWhereTheGpusAreTooFew) {
  std::vector<ProductJob> jobs = Fragments();
  jobs.push_back(Job(5, 1150, 1, kLongWork));  // a fragment of one GPU is used
  const SimulationRun run = Simulate(jobs);
  EXPECT_EQ(run.moves->moves, 0U);
  EXPECT_EQ(Restarts(run), 0U);
}

TEST_F(MovedJobsTest, AJobMovesOnce) {
  // Job 0 goes to the node of job 1, which ends at 6000 s. Job 6 has the other node when job 5 asks
  // for four GPUs.
  std::vector<ProductJob> jobs = Fragments();
  jobs[1].ideal = Seconds(6000 - 60);
  jobs.push_back(Job(5, 6100, 4, kWaiterWork));
  jobs.push_back(Job(6, 5500, 2, kLongWork));
  const SimulationRun run = Simulate(jobs);
  EXPECT_EQ(run.moves->moves, 2U);
  EXPECT_EQ(run.jobs[0].restarts, 1U);
  EXPECT_EQ(run.jobs[6].restarts, 1U);
  EXPECT_EQ(run.jobs[5].start, Seconds(6700));
  EXPECT_EQ(run.moves->gpu_time_lost, Seconds(4 * 70));
}

// The gang's pods have three GPUs of a node each. Jobs 1 and 2 have one GPU of the two other nodes,
// and stay, because their priority is above that of job 3.
TEST_F(MovedJobsTest, AGangMovesAsAWhole) {
  std::vector<ProductJob> jobs = {Job(0, 0, 6, kLongWork), Job(1, 1, 1, kLongWork),
                                  Job(2, 1, 1, kLongWork), Job(3, 1200, 4, kWaiterWork)};
  jobs[1].priority = jobs[2].priority = 1;
  const SimulationRun run = Simulate(jobs, 4);
  EXPECT_EQ(run.moves->moves, 1U);
  EXPECT_EQ(run.jobs[0].restarts, 1U);
  EXPECT_EQ(run.jobs[3].start, Seconds(1800));
  EXPECT_EQ(run.moves->gpu_time_lost, Seconds(6 * 70));
  EXPECT_EQ(Restarts(run), 1U);
  EXPECT_EQ(NodesOf(run, 0).size(), 4U);
}

TEST_F(MovedJobsTest, FailingCallsDelayMovesButEveryJobEnds) {
  options.faults.call_fails = 0.5;
  for (uint64_t seed = 1; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    options.faults.seed = seed;
    const SimulationRun run = Simulate(Fragments());
    EXPECT_LE(run.moves->moves, 1U);
    for (const JobRun& job : run.jobs) EXPECT_GE(job.finish, Seconds(0));
  }
}

// On nodes whose GPUs two jobs share, a node takes jobs of one size: job 4 waits for an empty one.
TEST_F(MovedJobsTest, JobsOnSharedGpusMoveToPlacesOfTheirSize) {
  options.sharing.emplace().height = 2;
  // With places for two, all four jobs of two GPUs go to a node of their own block by block.
  const std::vector<ProductJob> jobs = {Job(0, 0, 2, kLongWork), Job(1, 1, 2, kLongWork),
                                        Job(2, 2, 2, kLongWork), Job(3, 1200, 4, kWaiterWork)};
  options.moves.reset();
  const SimulationRun without = Simulate(jobs);
  options.moves.emplace();
  const SimulationRun with = Simulate(jobs);
  ASSERT_TRUE(with.moves);
  EXPECT_EQ(with.moves->moves, 1U);
  EXPECT_EQ(with.moves->in_vain, 0U);
  EXPECT_EQ(with.jobs[3].start, Seconds(1800));
  EXPECT_GT(without.jobs[3].start, Seconds(kLongWork));
}

TEST_F(MovedJobsTest, MovesExcludeQueues) {
  options.queue.emplace();
  const auto run = SimulateProduct(ClusterOf(1, {Gpus(4), Cores(8), GiB(80)}), {}, {}, options);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kInvalid);
}

TEST_F(MovedJobsTest, ABaselineMovesNothing) {
  options.baseline = NodeOrder::kMostAllocated;
  const SimulationRun run = Simulate(Fragments());
  EXPECT_FALSE(run.moves);
  EXPECT_EQ(Restarts(run), 0U);
}

}  // namespace
}  // namespace synergy::testing
