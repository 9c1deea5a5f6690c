#include "sim/sharing/shared_gpus.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/cluster/product_simulator.h"
#include "sim/sharing/pair_speeds.h"

namespace synergy::testing {
namespace {

using std::chrono::seconds;

// Returns flat models: each has one speed with any CPU and memory.
ModelProfiles FlatModels() {
  ModelProfiles profiles;
  for (const char* model : {"a", "b", "c", "large"}) {
    profiles.Set(model, std::make_shared<const JobProfile>(
                            *JobProfile::Create(Gpus(1), {{Cores(1), GiB(1), 1.0}})));
  }
  return profiles;
}

// Returns a job that takes `lasts` alone, at 2 iterations per second. Its first part is the first
// 100 iterations.
ProductJob FlatJob(uint64_t id, double lasts, std::string model = "a", double arrival = 0,
                   int64_t gpus = 1) {
  return {.id = id,
          .model = std::move(model),
          .gpus = Gpus(gpus),
          .arrival = Seconds(arrival),
          .ideal = Seconds(lasts),
          .fair_throughput = 1,
          .first_part = Seconds(50),
          .iterations = lasts * 2};
}

SimulationRun RunShared(const std::vector<ProductJob>& jobs, const SharingOptions& sharing,
                        size_t nodes = 1, int64_t gpus = 1) {
  StartingCluster cluster = ClusterOf(nodes, {Gpus(gpus), Cores(4 * gpus), GiB(4 * gpus)});
  SetProduct("v100", cluster.nodes);
  ProductOptions options;
  options.latencies = {Duration::zero(), Duration::zero(), Duration::zero(), Duration::zero(),
                       Duration::zero()};
  options.restart_cost = Duration::zero();
  options.sharing = sharing;
  auto run = SimulateProduct(cluster, jobs, FlatModels(), options);
  EXPECT_TRUE(run) << run.error().message;
  return run ? *std::move(run) : SimulationRun{};
}

double MeanFinish(const SimulationRun& run) {
  double sum = 0;
  for (const JobRun& job : run.jobs) sum += (job.finish - job.arrival).count();
  return sum / static_cast<double>(run.jobs.size());
}

double MeanFirst(const SimulationRun& run) {
  double sum = 0;
  for (const JobRun& job : run.jobs) sum += (job.first_part - job.arrival).count();
  return sum / static_cast<double>(run.jobs.size());
}

PairSpeeds Pairs() {
  PairSpeeds pairs;
  pairs.Set(PairOf("a", "a", "v100"), {0.8, 0.8});
  pairs.Set(PairOf("a", "b", "v100"), {0.8, 0.7});
  pairs.Set(PairOf("a", "c", "v100"), {0.4, 0.4});
  pairs.Set(PairOf("b", "b", "v100"), {0.6, 0.6});
  pairs.Set(PairOf("b", "c", "v100"), {0.9, 0.29});
  pairs.Set(PairOf("c", "c", "v100"), {0.5, 0.5});
  return pairs;
}

// Calculated: equal jobs of an hour end at 3600 and 7200 s in order, and at 7140 and 7200 s in
// slices.
TEST(SharedGpusTest, SlicesBringTheFirstIterationsSoonerAndEndEqualJobsLater) {
  const std::vector<ProductJob> jobs = {FlatJob(0, 3600), FlatJob(1, 3600)};
  const SimulationRun in_order = RunShared(jobs, {.height = 1});
  EXPECT_NEAR(MeanFirst(in_order), 1850, 1e-3);
  EXPECT_NEAR(MeanFinish(in_order), 5400, 1e-3);
  const SimulationRun sliced = RunShared(jobs, {.height = 2});
  EXPECT_NEAR(MeanFirst(sliced), 80, 1e-3);
  EXPECT_NEAR(MeanFinish(sliced), 7170, 1e-3);
}

TEST(SharedGpusTest, SlicesLetAShortJobPassALongOne) {
  const std::vector<ProductJob> jobs = {FlatJob(0, 36'000), FlatJob(1, 600)};
  EXPECT_NEAR(MeanFinish(RunShared(jobs, {.height = 1})), 36'300, 1e-3);
  EXPECT_NEAR(MeanFinish(RunShared(jobs, {.height = 2})), 18'900, 1e-3);
}

TEST(SharedGpusTest, NothingIsSharedBeforeEveryGpuIsTaken) {
  const std::vector<ProductJob> jobs = {FlatJob(0, 600), FlatJob(1, 600), FlatJob(2, 600),
                                        FlatJob(3, 600)};
  const SimulationRun two_nodes = RunShared(jobs, {.height = 2}, 2, 2);
  for (const JobRun& job : two_nodes.jobs) EXPECT_NEAR(job.finish.count(), 600, 1e-3);
  // all jobs arrived at the same time
  EXPECT_NEAR(two_nodes.sharing->work_per_gpu_second, 0, 1e-9);
}

TEST(SharedGpusTest, NodeTakesPodsOfOneSizeAtATime) {
  const std::vector<ProductJob> jobs = {FlatJob(0, 600, "a", 0, 2), FlatJob(1, 100, "a", 10, 1)};
  const SimulationRun run = RunShared(jobs, {.height = 2}, 1, 4);
  EXPECT_NEAR(run.jobs[1].finish.count(), 700, 1e-3);
}

TEST(SharedGpusTest, ModelsThatDoNotFitTogetherNeverShareAGpu) {
  const std::vector<ProductJob> jobs = {FlatJob(0, 600, "large"), FlatJob(1, 600, "a", 10)};
  const SimulationRun run = RunShared(jobs, {.height = 2, .pairs = Pairs()});
  EXPECT_NEAR(run.jobs[1].finish.count(), 1200, 1e-3);
}

TEST(SharedGpusTest, GoodPairIsKeptAndWorkIsMore) {
  const std::vector<ProductJob> jobs = {FlatJob(0, 3600, "a"), FlatJob(1, 3600, "b"),
                                        FlatJob(2, 1, "large", 3000)};
  const SimulationRun run = RunShared(jobs, {.height = 2, .packs = true, .pairs = Pairs()});
  EXPECT_EQ(run.sharing->packs_kept, 1U);
  EXPECT_EQ(run.sharing->packs_undone, 0U);
  EXPECT_EQ(run.sharing->packs_misjudged, 0U);
  EXPECT_GT(run.sharing->work_per_gpu_second, 1.45);
  const SimulationRun known =
      RunShared(jobs, {.height = 2, .packs = true, .knows_pairs = true, .pairs = Pairs()});
  EXPECT_NEAR(known.sharing->work_per_gpu_second, 1.5, 1e-6);
}

TEST(SharedGpusTest, BadPairIsUndoneAndCostsAtMostTwoPartsInAHundred) {
  for (const char* other : {"a", "b"}) {
    const std::vector<ProductJob> jobs = {FlatJob(0, 3600, "c"), FlatJob(1, 3600, other),
                                          FlatJob(2, 1, "large", 3600)};
    const SimulationRun run = RunShared(jobs, {.height = 2, .packs = true, .pairs = Pairs()});
    EXPECT_GE(run.sharing->packs_undone, 1U);
    EXPECT_EQ(run.sharing->packs_kept, 0U);
    EXPECT_GT(run.sharing->work_per_gpu_second, 0.98);
  }
}

TEST(SharedGpusTest, PackWithinARotationOfThreeIsTriedInItsSlots) {
  const std::vector<ProductJob> jobs = {FlatJob(0, 3600, "a"), FlatJob(1, 3600, "a"),
                                        FlatJob(2, 3600, "c"), FlatJob(3, 1, "large", 3000)};
  const SimulationRun run = RunShared(jobs, {.height = 3, .packs = true, .pairs = Pairs()});
  EXPECT_GE(run.sharing->packs_kept, 1U);
  EXPECT_GT(run.sharing->work_per_gpu_second, 1.2);
}

TEST(SharedGpusTest, JobWhoseGpusDivideNoNodeIsRefused) {
  const StartingCluster cluster = ClusterOf(1, {Gpus(4), Cores(8), GiB(8)});
  ProductOptions options;
  options.sharing = SharingOptions{.height = 2};
  const std::vector<ProductJob> jobs = {FlatJob(7, 600, "a", 0, 3)};
  const auto run = SimulateProduct(cluster, jobs, FlatModels(), options);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().message,
            "sharing: job 7 has 3 GPUs, which divides no node's GPUs; gangs do not share GPUs in "
            "the simulation");
}

TEST(PairSpeedsTest, SpeedsAreInTheOrderAskedFor) {
  const auto pairs = ParsePairSpeeds(
      "model,other,gpu_product,speed,other_speed\nb,a,v100,0.7,0.8\na,a,v100,0.5,0.5\n", "f.csv");
  ASSERT_TRUE(pairs) << pairs.error().message;
  EXPECT_EQ((*pairs->Of("a", "b", "v100"))[0], 0.8);
  EXPECT_EQ((*pairs->Of("b", "a", "v100"))[0], 0.7);
  EXPECT_FALSE(pairs->Of("a", "b", "p100"));
}

TEST(PairSpeedsTest, ErrorsNameTheLine) {
  const auto twice = ParsePairSpeeds(
      "model,other,gpu_product,speed,other_speed\na,b,v100,0.7,0.8\nb,a,v100,0.7,0.8\n", "f.csv");
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message,
            "f.csv:3:1: model is \"b\": write one line for each pair and gpu_product");
  EXPECT_FALSE(ParsePairSpeeds("model,other,gpu_product,speed\na,b,v100,1\n", "f.csv"));
  const auto percent =
      ParsePairSpeeds("model,other,gpu_product,speed,other_speed\na,b,v100,1,60\n", "f.csv");
  ASSERT_FALSE(percent);
  EXPECT_EQ(percent.error().message,
            "f.csv:2:12: other_speed is \"60\": write the speed beside the other as a part of that "
            "alone, from 0 to 1");
}

}  // namespace
}  // namespace synergy::testing
