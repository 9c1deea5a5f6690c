// Tests the product simulator with a queue, with faults and pods without GPUs, and with the
// baselines instead of Synergy.

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/cluster/product_simulator.h"

namespace synergy::testing {
namespace {

// Returns two models. The fair share is two cores for a GPU; one of them is twice as fast with
// four.
ModelProfiles TwoModels() {
  ModelProfiles profiles;
  const auto profile = [](const std::vector<double>& by_cores) {
    std::vector<JobProfile::Point> points;
    for (size_t cores = 1; cores <= by_cores.size(); ++cores)
      points.push_back({Cores(static_cast<int64_t>(cores)), GiB(10), by_cores[cores - 1]});
    return std::make_shared<const JobProfile>(*JobProfile::Create(Gpus(1), std::move(points)));
  };
  profiles.Set("hungry", profile({1, 2, 3, 4}));
  profiles.Set("frugal", profile({1}));
  return profiles;
}

ProductJob JobOfModel(uint64_t id, std::string model, double arrival, double ideal,
                      int64_t gpus = 1) {
  const double fair = model == "hungry" ? 2 : 1;
  return {id, std::move(model), Gpus(gpus), Seconds(arrival), Seconds(ideal), fair};
}

StartingCluster NodesOf(size_t nodes, int64_t gpus) {
  return ClusterOf(nodes, {Gpus(gpus), Cores(2 * gpus), GiB(20 * gpus)});
}

ProductOptions QueueUnder(const std::string& policy) {
  ProductOptions options;
  options.restart_cost = std::chrono::seconds(10);
  options.queue.emplace();
  options.queue->rounds.policy = policy;
  options.queue->rounds.least_run = std::chrono::minutes(1);
  options.queue->rounds.restart_cost = options.restart_cost;
  return options;
}

SimulationRun RunWith(const ProductOptions& options, const std::vector<ProductJob>& jobs,
                      const StartingCluster& cluster) {
  const ModelProfiles profiles = TwoModels();
  auto run = SimulateProduct(cluster, jobs, profiles, options);
  EXPECT_TRUE(run) << run.error().message;
  return run ? *std::move(run) : SimulationRun{};
}

TEST(QueuedJobsTest, UnderLasAYoungJobTakesTurnsWithAnOldOne) {
  const SimulationRun run =
      RunWith(QueueUnder("las"),
              {JobOfModel(0, "frugal", 0, 3000), JobOfModel(1, "frugal", 60, 100)}, NodesOf(1, 1));
  // Rounds begin every 300 s. The old job then stops, the young one runs, and the old one resumes.
  EXPECT_NEAR(run.jobs[1].start.count(), 300, 6);
  EXPECT_NEAR(run.jobs[1].finish.count(), 300 + 110, 10);
  EXPECT_EQ(run.jobs[0].restarts, 1U);
  EXPECT_EQ(run.jobs[1].restarts, 0U);
  // The old job waits twice, before and between its turns, and holds no GPU meanwhile.
  for (const JobRun& job : run.jobs) {
    const double waited = (job.finish - job.arrival - job.ran).count();
    EXPECT_NEAR(waited, job.id == 0 ? 110 : 240, 20);
    EXPECT_NEAR(job.gpu_time.count(), job.ran.count(), 5);
  }
  // It loses only the restart cost and the time in which it did not run.
  EXPECT_NEAR(run.jobs[0].finish.count(), 3000 + 2 * 10 + 110, 20);
}

TEST(QueuedJobsTest, UnderFifoTheOrderIsThatOfArrival) {
  std::vector<ProductJob> jobs;
  for (uint64_t id = 0; id < 6; ++id)
    jobs.push_back(JobOfModel(id, "frugal", static_cast<double>(id), 200, id % 2 == 0 ? 2 : 1));
  ProductOptions options = QueueUnder("fifo");
  options.queue->strict = true;
  const SimulationRun run = RunWith(options, jobs, NodesOf(1, 2));
  for (size_t job = 1; job < jobs.size(); ++job) {
    EXPECT_GE(run.jobs[job].start.count() + 1, run.jobs[job - 1].start.count()) << job;
    EXPECT_EQ(run.jobs[job].restarts, 0U) << job;
  }
}

TEST(QueuedJobsTest, UnderSrtfAShortJobThatHasRunGoesBeforeALongOne) {
  // Two short jobs and a long one share a GPU. When all have run once, the short ones go first.
  const std::vector<ProductJob> jobs = {JobOfModel(0, "frugal", 0, 20'000),
                                        JobOfModel(1, "frugal", 0.5, 700)};
  const SimulationRun las = RunWith(QueueUnder("las"), jobs, NodesOf(1, 1));
  const SimulationRun srtf = RunWith(QueueUnder("srtf"), jobs, NodesOf(1, 1));
  // Under srtf a job whose remaining time is unknown waits behind the running ones.
  EXPECT_GT(srtf.jobs[1].start.count(), 20'000);
  EXPECT_LT(las.jobs[1].finish.count(), 3000);
}

TEST(QueuedJobsTest, AGangIsSuspendedAndGoesOnAsAWhole) {
  ProductOptions options = QueueUnder("las");
  options.pod_gpus = Gpus(1);
  const SimulationRun run =
      RunWith(options, {JobOfModel(0, "frugal", 0, 1000, 4), JobOfModel(1, "frugal", 60, 500, 3)},
              NodesOf(2, 2));
  EXPECT_GE(run.jobs[0].restarts, 1U);
  for (const JobRun& job : run.jobs) EXPECT_GT(job.finish.count(), 0);
}

// Tests a node with a fast GPU and a node with a slow one, under a policy of GPU types.
class TypedJobsTest : public ::testing::Test {
 protected:
  static StartingCluster FastAndSlow(int64_t gpus) {
    StartingCluster cluster = NodesOf(2, gpus);
    SetProduct("fast", std::span(cluster.nodes).first(1));
    SetProduct("slow", std::span(cluster.nodes).subspan(1));
    return cluster;
  }
  static ProductOptions Under(const std::string& policy) {
    ProductOptions options = QueueUnder("fifo");
    EXPECT_TRUE(ReadPolicy(policy, options.queue->rounds));
    options.gpu_speeds.of_products = {{"fast", 1}, {"slow", 0.5}};
    return options;
  }
};

TEST_F(TypedJobsTest, AnAwarePolicyGivesTheFirstJobTheFastType) {
  const SimulationRun run =
      RunWith(Under("fifo:Aware"),
              {JobOfModel(0, "frugal", 0, 600), JobOfModel(1, "frugal", 5, 600)}, FastAndSlow(1));
  EXPECT_EQ(run.places[0].nodes, "node-0001");
  EXPECT_NEAR(run.jobs[0].finish.count(), 610, 10);
  // The second job is on the slow type until the fast one is free, and moves when a round begins.
  EXPECT_EQ(run.places[1].nodes, "node-0001");
  EXPECT_EQ(run.jobs[1].restarts, 1U);
  EXPECT_LT(run.jobs[1].finish.count(), 1210);
}

TEST_F(TypedJobsTest, AModelsOwnSpeedsDecideWhereItGoes) {
  ProductOptions options = Under("fifo:Aware");
  options.gpu_speeds.of_models[{"hungry", "slow"}] = 2;
  const SimulationRun run = RunWith(
      options, {JobOfModel(0, "hungry", 0, 600), JobOfModel(1, "frugal", 5, 600)}, FastAndSlow(1));
  EXPECT_EQ(run.places[0].nodes, "node-0002");
  EXPECT_EQ(run.places[1].nodes, "node-0001");
}

TEST_F(TypedJobsTest, UnderSjfTheShorterOfTwoGoesFirst) {
  const std::vector<ProductJob> jobs = {JobOfModel(0, "frugal", 0, 3000, 2),
                                        JobOfModel(1, "frugal", 1, 3000, 2),
                                        JobOfModel(2, "frugal", 700, 300, 2)};
  for (const char* policy : {"sjf:Aware", "sjf:Ignore"}) {
    const SimulationRun run = RunWith(Under(policy), jobs, FastAndSlow(2));
    for (const JobRun& job : run.jobs) EXPECT_GT(job.finish.count(), 0) << policy;
  }
}

TEST_F(TypedJobsTest, AGangIsOnOneTypeAlone) {
  ProductOptions options = Under("fifo:Ignore");
  options.pod_gpus = Gpus(1);
  options.keep_changes = true;
  std::vector<ProductJob> jobs;
  for (uint64_t id = 0; id < 8; ++id)
    jobs.push_back(JobOfModel(id, "hungry", 50.0 * static_cast<double>(id), 400, 1 + id % 3));
  const SimulationRun run = RunWith(options, jobs, FastAndSlow(3));
  for (const JobPlace& place : run.places)
    EXPECT_TRUE(place.nodes.find("0001") == std::string::npos ||
                place.nodes.find("0002") == std::string::npos)
        << place.nodes;
}

TEST_F(TypedJobsTest, NodesOfUnknownProductsAndLargerJobsAreRefused) {
  const ModelProfiles profiles = TwoModels();
  const std::vector<ProductJob> jobs = {JobOfModel(0, "frugal", 0, 600, 2)};
  for (const StartingCluster& cluster : {NodesOf(2, 2), FastAndSlow(1)}) {
    const auto run = SimulateProduct(cluster, jobs, profiles, Under("fifo:Aware"));
    ASSERT_FALSE(run);
    EXPECT_EQ(run.error().code, ErrorCode::kInvalid);
  }
}

TEST_F(TypedJobsTest, APolicyThatNeedsASolverIsRefusedByItsName) {
  QueueSetup setup;
  ASSERT_TRUE(ReadPolicy("las:Aware", setup.rounds));
  const auto checked = CheckQueue(setup);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message, ::testing::HasSubstr("las with gpuTypes needs a solver"));
  EXPECT_FALSE(ReadPolicy("las:Fast", setup.rounds));
}

TEST(QueuedJobsTest, ANodeThatIsLostCostsTimeAndNoWork) {
  ProductOptions options;
  options.restart_cost = std::chrono::seconds(10);
  options.faults.node_lost = 12;  // a loss every two hours
  const SimulationRun run = RunWith(options, {JobOfModel(0, "frugal", 0, 36'000)}, NodesOf(2, 1));
  EXPECT_GE(run.jobs[0].restarts, 1U);
  const double lost = run.jobs[0].restarts * (350 + 10 + 2);
  EXPECT_GE(run.jobs[0].finish.count(), 36'000 + lost - 1);
  EXPECT_LE(run.jobs[0].finish.count(), 36'000 + lost + 4000);
}

TEST(QueuedJobsTest, RefusedAndDeferredResizesAndFailingCallsEndNoJob) {
  std::vector<ProductJob> jobs;
  for (uint64_t id = 0; id < 12; ++id) {
    jobs.push_back(
        JobOfModel(id, id % 2 == 0 ? "hungry" : "frugal", 100.0 * static_cast<double>(id), 2000));
  }
  ProductOptions options;
  options.faults = {.resize_deferred = 0.3,
                    .resize_refused = 0.3,
                    .call_fails = 0.2,
                    .call_late = std::chrono::seconds(2),
                    .seed = 3};
  const SimulationRun run = RunWith(options, jobs, NodesOf(2, 4));
  for (const JobRun& job : run.jobs) EXPECT_GT(job.finish.count(), 0) << job.id;
}

// Tests elastic jobs whose pods have a GPU each.
class ElasticJobsTest : public ::testing::Test {
 protected:
  static ProductOptions UpTo(int64_t most, double serial = 0) {
    ProductOptions options = QueueUnder("fifo");
    EXPECT_TRUE(ReadPolicy("fifo:Elastic", options.queue->rounds));
    options.pod_gpus = Gpus(1);
    options.elastic = ElasticWorkers{.least = 1, .most = most, .serial = serial};
    return options;
  }
};

TEST_F(ElasticJobsTest, AJobAloneGrowsAsARoundBegins) {
  const SimulationRun run = RunWith(UpTo(4), {JobOfModel(0, "frugal", 0, 3000)}, NodesOf(2, 2));
  EXPECT_EQ(run.jobs[0].restarts, 1U);
  // It runs for a round with one pod, and does the rest with four.
  EXPECT_NEAR(run.jobs[0].finish.count(), 300 + 2700 / 4.0 + 10, 20);
}

TEST_F(ElasticJobsTest, TheSerialPartOfTheWorkIsNotShared) {
  const SimulationRun run =
      RunWith(UpTo(4, 1.0 / 3), {JobOfModel(0, "frugal", 0, 3000)}, NodesOf(2, 2));
  EXPECT_GT(run.jobs[0].finish.count(), 300 + 2700 / 2.0);
}

TEST_F(ElasticJobsTest, AJobShrinksForOneThatComes) {
  const SimulationRun run =
      RunWith(UpTo(4), {JobOfModel(0, "frugal", 0, 9000), JobOfModel(1, "frugal", 700, 900)},
              NodesOf(2, 2));
  // The second starts when a round begins, long before the first ends.
  EXPECT_LT(run.jobs[1].start.count(), 930);
  EXPECT_GE(run.jobs[0].restarts, 2U);
  EXPECT_GT(run.jobs[0].finish.count(), run.jobs[1].finish.count());
}

TEST_F(ElasticJobsTest, AJobThatCannotBeElasticKeepsItsSize) {
  ProductOptions options = UpTo(4);
  options.pod_gpus = Gpus(2);
  // The pods have two GPUs, or one.
  const SimulationRun run = RunWith(options, {JobOfModel(0, "frugal", 0, 900, 3)}, NodesOf(2, 4));
  EXPECT_EQ(run.jobs[0].restarts, 0U);
}

TEST_F(ElasticJobsTest, AJobGetsNoMorePodsThanNodesHaveRoomFor) {
  ProductOptions options = UpTo(4);
  options.pod_gpus = Gpus(3);
  // The cluster has 12 GPUs, but each node has room for one pod with three.
  const SimulationRun run = RunWith(options, {JobOfModel(0, "frugal", 0, 3000, 3)}, NodesOf(3, 4));
  EXPECT_NEAR(run.jobs[0].finish.count(), 300 + 2700 / 3.0 + 10, 20);
}

TEST_F(ElasticJobsTest, TheyNeedAQueueWithWorkersElastic) {
  const ModelProfiles profiles = TwoModels();
  const std::vector<ProductJob> jobs = {JobOfModel(0, "frugal", 0, 600)};
  ProductOptions options = UpTo(4);
  options.queue->rounds.elastic = false;
  EXPECT_FALSE(SimulateProduct(NodesOf(1, 2), jobs, profiles, options));
  options.queue.reset();
  EXPECT_FALSE(SimulateProduct(NodesOf(1, 2), jobs, profiles, options));
}

// Tests a node with two GPUs, on which pods without GPUs want more CPU than it has.
class CpuPodsTest : public ::testing::Test {
 protected:
  static SimulationRun RunBeside(const CpuPodLoad& load, const std::string& mechanism) {
    ProductOptions options;
    options.restart_cost = Duration::zero();
    options.cpu_pods = load;
    EXPECT_TRUE(SetMechanism(mechanism, options));
    return RunWith(options, {JobOfModel(0, "frugal", 0, 3000), JobOfModel(1, "hungry", 600, 1000)},
                   NodesOf(1, 2));
  }
  static CpuPodLoad Crowd() {
    return {
        .per_hour = 360, .requests = {Gpus(0), Cores(1), GiB(1)}, .lasts = std::chrono::minutes(5)};
  }
};

TEST_F(CpuPodsTest, TheyTakeCpuThatAJobWouldGet) {
  for (const char* mechanism : {"synergy", "synergy-strict", "proportional"}) {
    const SimulationRun alone = RunBeside({}, mechanism);
    const SimulationRun crowded = RunBeside(Crowd(), mechanism);
    EXPECT_GT(crowded.jobs[1].finish.count(), alone.jobs[1].finish.count() + 30) << mechanism;
    EXPECT_GT(crowded.cpu_utilisation, alone.cpu_utilisation) << mechanism;
    EXPECT_LE(crowded.cpu_utilisation, 1) << mechanism;
  }
}

TEST_F(CpuPodsTest, AJobWaitsForThoseThatAreThereAndNotForLaterOnes) {
  CpuPodLoad load = Crowd();
  load.requests.cpu = Cores(2);
  load.per_hour = 20;
  const SimulationRun run = RunBeside(load, "proportional");
  EXPECT_GT(run.jobs[1].start.count(), 660);
  EXPECT_GT(run.jobs[1].finish.count(), 0);
}

TEST_F(CpuPodsTest, OneThatNeverFitsHarmsNoJob) {
  CpuPodLoad load = Crowd();
  load.requests.cpu = Cores(100);
  const SimulationRun alone = RunBeside({}, "proportional");
  const SimulationRun run = RunBeside(load, "proportional");
  for (size_t job = 0; job < run.jobs.size(); ++job)
    EXPECT_NEAR(run.jobs[job].finish.count(), alone.jobs[job].finish.count(), 1) << job;
}

TEST(BaselineTest, ProportionalJobsHaveTheirFairShareWhateverElseIsThere) {
  ProductOptions options;
  options.restart_cost = Duration::zero();
  ASSERT_TRUE(SetMechanism("proportional", options));
  const SimulationRun run = RunWith(
      options, {JobOfModel(0, "hungry", 0, 100), JobOfModel(1, "frugal", 0, 100)}, NodesOf(1, 2));
  EXPECT_NEAR(run.jobs[0].finish.count() - run.jobs[0].start.count(), 100, 1e-6);
  EXPECT_EQ(run.places[0].bound_with, (ResourceVector{Gpus(1), Cores(2), GiB(20)}));
  EXPECT_EQ(run.jobs[0].resizes, 0U);
}

TEST(BaselineTest, BurstableJobsUseWhatOthersLeave) {
  ProductOptions options;
  options.restart_cost = Duration::zero();
  ASSERT_TRUE(SetMechanism("burstable-packed", options));
  const SimulationRun run = RunWith(
      options, {JobOfModel(0, "hungry", 0, 150), JobOfModel(1, "frugal", 0, 1000)}, NodesOf(1, 2));
  // The frugal job uses one of its two cores, so the other job has three.
  EXPECT_NEAR(run.jobs[0].finish.count() - run.jobs[0].start.count(), 100, 2);
  EXPECT_EQ(run.places[0].bound_with, (ResourceVector{Gpus(1), Cores(2), GiB(20)}));
}

TEST(BaselineTest, SpreadTakesTheEmptiestNodeAndPackedTheFullest) {
  const std::vector<ProductJob> jobs = {JobOfModel(0, "frugal", 0, 1000),
                                        JobOfModel(1, "frugal", 10, 1000)};
  ProductOptions options;
  ASSERT_TRUE(SetMechanism("burstable-spread", options));
  const SimulationRun spread = RunWith(options, jobs, NodesOf(2, 2));
  EXPECT_NE(spread.places[0].nodes, spread.places[1].nodes);
  ASSERT_TRUE(SetMechanism("burstable-packed", options));
  const SimulationRun packed = RunWith(options, jobs, NodesOf(2, 2));
  EXPECT_EQ(packed.places[0].nodes, packed.places[1].nodes);
}

TEST(BaselineTest, EachMechanismIsKnownByItsName) {
  ProductOptions options;
  for (const auto& names : {ProductMechanisms(), BaselineMechanisms()}) {
    for (const MechanismName& name : names) EXPECT_TRUE(SetMechanism(name.name, options));
  }
  ASSERT_TRUE(SetMechanism("synergy-strict", options));
  EXPECT_EQ(options.enforcement, Enforcement::kStrict);
  EXPECT_FALSE(options.baseline);
  EXPECT_FALSE(SetMechanism("luck", options));
}

}  // namespace
}  // namespace synergy::testing
