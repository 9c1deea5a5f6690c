// Tests pods of the simulated product that train alone and replace others of lower priority.

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/cluster/product_simulator.h"

namespace synergy::testing {
namespace {

constexpr double kPodWork = 2000;  // seconds

class PreemptedPodsTest : public ::testing::Test {
 protected:
  PreemptedPodsTest() { options.restart_cost = std::chrono::seconds(30); }

  static ProductJob Job(uint64_t id, Seconds arrival, int32_t priority, Gpus gpus = Gpus(1)) {
    ProductJob job{id, "flat", gpus, arrival, Seconds(kPodWork), 1};
    job.priority = priority;
    return job;
  }

  // Runs the jobs on nodes of two GPUs.
  SimulationRun RunOn(size_t nodes, const std::vector<ProductJob>& jobs) const {
    ModelProfiles profiles;
    profiles.Set("flat", std::make_shared<const JobProfile>(
                             *JobProfile::Create(Gpus(1), {{Cores(1), GiB(10), 1}})));
    auto run =
        SimulateProduct(ClusterOf(nodes, {Gpus(2), Cores(4), GiB(40)}), jobs, profiles, options);
    EXPECT_TRUE(run) << run.error().message;
    return run ? *std::move(run) : SimulationRun{};
  }

  ProductOptions options;
};

TEST_F(PreemptedPodsTest, APodReplacesOneOfLowerPriorityAtOnce) {
  for (const bool synergy : {true, false}) {
    SCOPED_TRACE(synergy);
    if (!synergy) options.baseline = NodeOrder::kLeastAllocated;
    const SimulationRun run =
        RunOn(1, {Job(0, Seconds(0), 1), Job(1, Seconds(0), 2), Job(2, Seconds(100), 3)});
    ASSERT_EQ(run.jobs.size(), 3U);
    // kube-scheduler tries the pod again after its backoff.
    EXPECT_LE(run.jobs[2].start.count(), 105);
    EXPECT_EQ(run.jobs[0].restarts, 1U);
    EXPECT_EQ(run.jobs[1].restarts, 0U);
    EXPECT_GE(run.jobs[0].finish, run.jobs[1].finish + Seconds(kPodWork - 101));
  }
}

TEST_F(PreemptedPodsTest, NoPodIsReplacedByOneOfItsPriorityOrALowerOne) {
  const SimulationRun run =
      RunOn(1, {Job(0, Seconds(0), 5, Gpus(2)), Job(1, Seconds(10), 5), Job(2, Seconds(10), 4)});
  EXPECT_EQ(run.jobs[0].restarts, 0U);
  EXPECT_GE(run.jobs[1].start, run.jobs[0].finish);
  EXPECT_GE(run.jobs[2].start, run.jobs[0].finish);
}

TEST_F(PreemptedPodsTest, TheLowestPrioritiesOfTheFewestPodsGiveWay) {
  // On three nodes run two pods of priority 1, one of priority 1 with two GPUs, and one of priority
  // 2 with two GPUs.
  const SimulationRun run =
      RunOn(3, {Job(0, Seconds(0), 2, Gpus(2)), Job(1, Seconds(10), 1, Gpus(2)),
                Job(2, Seconds(20), 1), Job(3, Seconds(30), 1), Job(4, Seconds(100), 9, Gpus(2))});
  EXPECT_LE(run.jobs[4].start.count(), 105);
  EXPECT_EQ(run.jobs[0].restarts, 0U);
  EXPECT_EQ(run.jobs[1].restarts, 1U);
  EXPECT_EQ(run.jobs[2].restarts, 0U);
  EXPECT_EQ(run.jobs[3].restarts, 0U);
}

TEST_F(PreemptedPodsTest, TheRoomGoesToThePodThatEvicted) {
  // Job 2 has waited for longer, but has a lower priority than job 3.
  const SimulationRun run =
      RunOn(1, {Job(0, Seconds(0), 1, Gpus(2)), Job(1, Seconds(50), 1, Gpus(2)),
                Job(2, Seconds(100), 3, Gpus(2))});
  EXPECT_LE(run.jobs[2].start.count(), 105);
  EXPECT_EQ(run.jobs[0].restarts, 1U);
  EXPECT_EQ(run.jobs[2].restarts, 0U);
}

// The tuner takes surplus for the pod.
TEST_F(PreemptedPodsTest, NoPodIsEvictedForCpuThatCanBeReclaimed) {
  ModelProfiles profiles;
  std::vector<JobProfile::Point> points;
  for (int64_t cores = 1; cores <= 8; ++cores)
    points.push_back({Cores(cores), GiB(10), static_cast<double>(cores)});
  profiles.Set("eager",
               std::make_shared<const JobProfile>(*JobProfile::Create(Gpus(1), std::move(points))));
  std::vector<ProductJob> jobs = {{0, "eager", Gpus(1), Seconds(0), Seconds(kPodWork), 4},
                                  {1, "eager", Gpus(1), Seconds(100), Seconds(kPodWork), 4}};
  jobs[1].priority = 5;
  const auto run =
      SimulateProduct(ClusterOf(1, {Gpus(2), Cores(8), GiB(40)}), jobs, profiles, options);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->jobs[0].restarts, 0U);
  EXPECT_LE(run->jobs[1].start.count(), 110);
}

// The member that stays waits for the other one, which gets a place when the pod has ended.
TEST_F(PreemptedPodsTest, AMemberOfAGangGivesWayAndTheOtherStays) {
  options.pod_gpus = Gpus(1);
  options.keep_changes = true;
  for (const bool reserves : {false, true}) {
    SCOPED_TRACE(reserves);
    if (reserves) options.reservations.emplace().settings.after = std::chrono::minutes(1);
    const SimulationRun run = RunOn(1, {Job(0, Seconds(0), 1, Gpus(2)), Job(1, Seconds(100), 5)});
    EXPECT_LE(run.jobs[1].start.count(), 105);
    EXPECT_EQ(run.jobs[1].restarts, 0U);
    EXPECT_GE(run.jobs[0].finish, run.jobs[1].finish + Seconds(kPodWork - 101));
    const auto bound =
        std::count_if(run.changes.begin(), run.changes.end(), [](const PlaceChange& change) {
          return change.kind == PlaceChange::Kind::kBound && change.job == 0;
        });
    EXPECT_EQ(bound, 3);  // two pods, and the one that replaces
  }
}

TEST_F(PreemptedPodsTest, APodWithoutGpusGivesWayAndComesAgain) {
  // Such a pod needs more than a pod with a GPU leaves.
  options.cpu_pods = {.per_hour = 3600,
                      .requests = {Gpus(0), Cores(3), GiB(2)},
                      .lasts = std::chrono::hours(2),
                      .seed = 1};
  options.until = Seconds(400);
  const SimulationRun run = RunOn(1, {Job(0, Seconds(200), 5)});
  EXPECT_GE(run.jobs[0].start.count(), 200);
  EXPECT_LE(run.jobs[0].start.count(), 240);
}

}  // namespace
}  // namespace synergy::testing
