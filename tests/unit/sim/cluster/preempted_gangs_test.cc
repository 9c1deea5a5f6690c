// Tests gangs of the simulated product that replace others of lower priority.

#include <chrono>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/gangs/preempting_gangs.h"
#include "sim/cluster/product_simulator.h"

namespace synergy::testing {
namespace {

constexpr double kFirstWork = 2000;  // seconds
constexpr double kSecondComes = 100;

class PreemptedGangsTest : public ::testing::Test {
 protected:
  PreemptedGangsTest() {
    options.pod_gpus = Gpus(1);
    options.restart_cost = std::chrono::seconds(30);
  }

  // Runs two gangs that each need all GPUs; the second arrives 100 s after the first.
  Result<SimulationRun> RunGangs(int32_t first, int32_t second) const {
    ModelProfiles profiles;
    profiles.Set("flat", std::make_shared<const JobProfile>(
                             *JobProfile::Create(Gpus(1), {{Cores(1), GiB(10), 1}})));
    std::vector<ProductJob> jobs = {{0, "flat", Gpus(2), Seconds(0), Seconds(kFirstWork), 1},
                                    {1, "flat", Gpus(2), Seconds(kSecondComes), Seconds(500), 1}};
    jobs[0].priority = first;
    jobs[1].priority = second;
    return SimulateProduct(ClusterOf(1, {Gpus(2), Cores(4), GiB(40)}), jobs, profiles, options);
  }

  ProductOptions options;
};

TEST_F(PreemptedGangsTest, AGangEvictsOneOfLowerPriorityAfterItsPatience) {
  const auto run = RunGangs(0, 5);
  ASSERT_TRUE(run) << run.error().message;
  const JobRun& evicted = run->jobs[0];
  const JobRun& served = run->jobs[1];
  const double patience = Seconds(GangPreemptionRules().patience).count();
  EXPECT_GE(served.start.count(), kSecondComes + patience);
  EXPECT_LE(served.start.count(), kSecondComes + patience + 5);
  EXPECT_EQ(served.restarts, 0U);
  // It loses only its restart.
  EXPECT_EQ(evicted.restarts, 1U);
  const double done = served.start.count() - evicted.start.count() - 30;
  const double left = kFirstWork - done;
  EXPECT_NEAR((evicted.finish - served.finish).count(), 30 + left, 10);
}

TEST_F(PreemptedGangsTest, AGangOfTheSamePriorityOrALowerOneWaits) {
  for (const int32_t first : {5, 7}) {
    const auto run = RunGangs(first, 5);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(run->jobs[0].restarts, 0U);
    EXPECT_GE(run->jobs[1].start, run->jobs[0].finish);
  }
}

TEST_F(PreemptedGangsTest, WithoutSynergyNoGangIsEvicted) {
  options.baseline = NodeOrder::kLeastAllocated;
  const auto run = RunGangs(0, 5);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->jobs[0].restarts, 0U);
}

TEST_F(PreemptedGangsTest, AQueueTakesNoPriorities) {
  options.queue.emplace();
  const auto run = RunGangs(0, 5);
  ASSERT_FALSE(run);
  EXPECT_THAT(run.error().message, ::testing::HasSubstr("priority"));
}

}  // namespace
}  // namespace synergy::testing
