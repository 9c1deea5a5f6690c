// Tests gangs of the simulated product that lose a member: the others stay, and the lost one's
// place is reserved for its replacement.

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/cluster/product_simulator.h"

namespace synergy::testing {
namespace {

constexpr double kWork = 2000;  // seconds

class LostMembersTest : public ::testing::Test {
 protected:
  LostMembersTest() {
    options.pod_gpus = Gpus(1);
    options.restart_cost = Duration::zero();
    options.keep_changes = true;
  }

  // Makes the pods of every job fail because of a GPU: as often as the owner allows, or once.
  void LoseGpus(bool again, uint32_t tries) {
    FailureAssumption failure;
    failure.category = Category::kGpuLost;
    failure.jobs = 1;
    failure.median = failure.mean = Seconds(100);
    failure.again = failure.again_same_node = again ? 1 : 0;
    failure.tries = tries;
    failure.checkpoint = Seconds(1);
    options.failures.emplace().assumptions = {failure};
  }

  // Runs a gang of two on all GPUs, and later a job with one GPU.
  SimulationRun RunGangAndJob() {
    return RunOn(1, {{0, "flat", Gpus(2), Seconds(0), Seconds(kWork), 1},
                     {1, "flat", Gpus(1), Seconds(10), Seconds(kWork), 1}});
  }

  SimulationRun RunOn(size_t nodes, const std::vector<ProductJob>& jobs) {
    ModelProfiles profiles;
    profiles.Set("flat", std::make_shared<const JobProfile>(
                             *JobProfile::Create(Gpus(1), {{Cores(1), GiB(10), 1}})));
    auto run =
        SimulateProduct(ClusterOf(nodes, {Gpus(2), Cores(4), GiB(40)}), jobs, profiles, options);
    EXPECT_TRUE(run) << run.error().message;
    return run ? *std::move(run) : SimulationRun{};
  }

  static std::vector<std::string> BoundOf(const SimulationRun& run, uint64_t job) {
    std::vector<std::string> pods;
    for (const PlaceChange& change : run.changes) {
      if (change.kind == PlaceChange::Kind::kBound && change.job == job) pods.push_back(change.pod);
    }
    std::sort(pods.begin(), pods.end());
    return pods;
  }

  ProductOptions options;
};

TEST_F(LostMembersTest, AReplacementGetsThePlaceThatAWaitingJobWouldTake) {
  LoseGpus(false, 2);
  const SimulationRun run = RunGangAndJob();
  EXPECT_EQ(run.jobs[0].restarts, 1U);
  EXPECT_GE(run.jobs[1].start, run.jobs[0].finish);
  // One member was created again; the other has stayed.
  const std::vector<std::string> bound = BoundOf(run, 0);
  ASSERT_EQ(bound.size(), 3U);
  const auto is_second = [](const std::string& pod) { return pod.ends_with("-run-2"); };
  EXPECT_EQ(std::count_if(bound.begin(), bound.end(), is_second), 1);
  // One GPU is held meanwhile, although the gang does not run.
  const JobRun& gang = run.jobs[0];
  EXPECT_NEAR(gang.ran.count(), kWork, 5);
  EXPECT_GT(gang.finish - gang.start - gang.ran, Seconds(5));
  EXPECT_NEAR((gang.gpu_time - gang.ran).count(), (gang.finish - gang.arrival).count(), 5);
}

TEST_F(LostMembersTest, WithoutSynergyTheWaitingJobTakesIt) {
  LoseGpus(false, 2);
  options.baseline = NodeOrder::kMostAllocated;
  const SimulationRun run = RunGangAndJob();
  EXPECT_LT(run.jobs[1].start, run.jobs[0].finish);
  // The gang's replacement waits until the other job fails or ends.
  EXPECT_EQ(run.jobs[0].restarts, 1U);
}

TEST_F(LostMembersTest, APlaceIsGivenUpIfTheReplacementComesTooLate) {
  // After the sixth failure the Job controller waits for 320 s.
  LoseGpus(true, 7);
  const SimulationRun run = RunGangAndJob();
  ASSERT_GE(run.jobs[0].restarts, 5U);
  EXPECT_LT(run.jobs[1].start, run.jobs[0].finish);
}

TEST_F(LostMembersTest, AFailureOfTheUsersEndsAllMembers) {
  LoseGpus(false, 2);
  options.failures->assumptions.front().category = Category::kHostOom;
  const SimulationRun run = RunGangAndJob();
  EXPECT_EQ(run.jobs[0].restarts, 1U);
  EXPECT_EQ(BoundOf(run, 0).size(), 4U);
}

TEST_F(LostMembersTest, OnlyMembersOnALostNodeAreMadeAgain) {
  options.faults.node_lost = 4;
  options.locality = {};
  const SimulationRun run = RunOn(4, {{0, "flat", Gpus(4), Seconds(0), Seconds(24.0 * 3600), 1}});
  ASSERT_GE(run.jobs[0].restarts, 2U);
  const std::vector<std::string> bound = BoundOf(run, 0);
  EXPECT_GT(bound.size(), 4U);
  EXPECT_LT(bound.size(), 4 * (1 + run.jobs[0].restarts));
  // At no time does a node have more pods than GPUs, and no pod is left at the end.
  std::map<std::string, int> on;
  for (const PlaceChange& change : run.changes) {
    if (change.kind == PlaceChange::Kind::kResized) continue;
    on[change.node] += change.kind == PlaceChange::Kind::kBound ? 1 : -1;
    EXPECT_LE(on[change.node], 2) << change.node;
  }
  for (const auto& [node, pods] : on) EXPECT_EQ(pods, 0) << node;
}

}  // namespace
}  // namespace synergy::testing
