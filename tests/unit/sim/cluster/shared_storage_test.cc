// Tests trainings on nodes whose pods share storage.

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/cluster/job_progress.h"
#include "sim/cluster/product_simulator.h"
#include "sim/cluster/simulated_data.h"

namespace synergy::testing {
namespace {

constexpr Bytes kOwnStorage(500'000'000);  // bytes per second, as in the profiles of a trace

std::shared_ptr<const JobProfile> ProfileWith(std::vector<JobProfile::Point> points) {
  return std::make_shared<const JobProfile>(*JobProfile::Create(Gpus(1), std::move(points)));
}

class TenantsOfStorageTest : public ::testing::Test {
 protected:
  // Starts a training that does an iteration of 100 bytes per second for each core, up to three.
  // With its memory at first, it misses half of the data.
  void Start(size_t job, Enforcement enforcement = Enforcement::kShared) {
    running.Begin(job, {.ideal = Seconds(1e6)});
    JobProgress::RunningPod pod{.uid = std::to_string(job), .job = job};
    pod.in_force = {Gpus(1), Cores(2), GiB(10)};
    pod.enforcement = enforcement;
    pod.profile =
        ProfileWith({{Cores(1), GiB(5), 1}, {Cores(2), GiB(5), 2}, {Cores(3), GiB(5), 3}});
    pod.reads = {.process = GiB(5), .data_set = GiB(10), .per_iteration = 100};
    running.Start("n1", std::move(pod), now);
  }
  double Throughput(const char* uid) { return running.PaceOf("n1", uid, now)->throughput; }
  MilliCpu Cpu(const char* uid) { return running.PaceOf("n1", uid, now)->cpu; }

  Instant now = Instant{} + std::chrono::seconds(1000);
  JobProgress running{{}};
};

TEST_F(TenantsOfStorageTest, AloneAPodIsAsFastAsTheStorageAllows) {
  running.SetNode("n1", Cores(6), {}, Bytes(100));
  Start(0);
  EXPECT_DOUBLE_EQ(Throughput("0"), 2);
  EXPECT_EQ(Cpu("0"), Cores(2)) << "it has no use for more while it waits";
  running.SetInForce("n1", "0", {Gpus(1), Cores(2), GiB(15)}, now);
  EXPECT_DOUBLE_EQ(Throughput("0"), 3) << "all of its data are in memory";
}

TEST_F(TenantsOfStorageTest, PodsOfANodeShareItByTheirNeeds) {
  running.SetNode("n1", Cores(6), {}, Bytes(100));
  Start(0);
  Start(1);
  EXPECT_DOUBLE_EQ(Throughput("0"), 1);
  EXPECT_DOUBLE_EQ(Throughput("1"), 1);
  running.Stop("n1", "1", now);
  EXPECT_DOUBLE_EQ(Throughput("0"), 2);
}

TEST_F(TenantsOfStorageTest, WithoutABandwidthEachHasItsOwn) {
  running.SetNode("n1", Cores(6));
  Start(0);
  Start(1);
  EXPECT_DOUBLE_EQ(Throughput("0"), 3);
}

TEST_F(TenantsOfStorageTest, CpuOfAPodThatWaitsGoesToOthers) {
  running.SetNode("n1", Cores(4), {}, Bytes(200));
  Start(0);
  Start(1);
  EXPECT_EQ(Cpu("0"), Cores(2));
  running.SetInForce("n1", "1", {Gpus(1), Cores(2), GiB(5)}, now);
  // It misses all of its data, and gets the bandwidth that the other does not need.
  EXPECT_NEAR(Throughput("1"), 1, 0.01);
  EXPECT_NEAR(Throughput("0"), 2, 0.01);
  running.SetInForce("n1", "0", {Gpus(1), Cores(2), GiB(15)}, now);
  EXPECT_NEAR(Throughput("1"), 2, 0.01);
}

// Returns jobs that, at their profile's best point, have their data in memory and need all of a
// storage of 500 MB/s.
ModelProfiles ReaderAndOther() {
  ModelProfiles profiles;
  profiles.Set("reader", ProfileWith({{Cores(2), GB(22), 0.1}, {Cores(2), GB(40), 1}}));
  profiles.Set("other", ProfileWith({{Cores(1), GB(22), 1}}));
  return profiles;
}

SimulationRun RunOfReaders(const std::vector<ProductJob>& jobs,
                           std::optional<StorageOptions> storage) {
  const ModelProfiles profiles = ReaderAndOther();
  ProductOptions options;
  options.restart_cost = Duration::zero();
  options.storage = storage;
  auto run = SimulateProduct(ClusterOf(2, {Gpus(4), Cores(8), GB(240)}), jobs, profiles, options);
  EXPECT_TRUE(run) << run.error().message;
  return run ? *std::move(run) : SimulationRun{};
}

std::vector<ProductJob> Readers(uint64_t count) {
  std::vector<ProductJob> jobs;
  for (uint64_t id = 0; id < count; ++id)
    jobs.push_back({id, "reader", Gpus(1), Seconds(static_cast<double>(id)), Seconds(3600), 1});
  return jobs;
}

Seconds TotalCompletion(const SimulationRun& run) {
  Seconds sum{};
  for (const JobRun& job : run.jobs) sum += job.finish - job.arrival;
  return sum;
}

TEST(SharedStorageTest, AJobAloneIsAsFastAsWithAStorageOfItsOwn) {
  const auto own = RunOfReaders(Readers(1), std::nullopt);
  for (const bool known : {false, true}) {
    const auto alone = RunOfReaders(Readers(1), StorageOptions{kOwnStorage, known});
    EXPECT_NEAR(alone.jobs[0].finish.count(), own.jobs[0].finish.count(), 0.1) << known;
  }
}

TEST(SharedStorageTest, AStorageWithEnoughForAllChangesNothing) {
  const auto own = RunOfReaders(Readers(8), std::nullopt);
  const auto shared = RunOfReaders(Readers(8), StorageOptions{GB(100), false});
  for (size_t job = 0; job < own.jobs.size(); ++job)
    EXPECT_EQ(own.jobs[job].finish, shared.jobs[job].finish) << job;
}

TEST(SharedStorageTest, ItCostsLessWhereTheProductKnowsIt) {
  const Seconds own = TotalCompletion(RunOfReaders(Readers(8), std::nullopt));
  const Seconds blind =
      TotalCompletion(RunOfReaders(Readers(8), StorageOptions{kOwnStorage, false}));
  const Seconds known =
      TotalCompletion(RunOfReaders(Readers(8), StorageOptions{kOwnStorage, true}));
  EXPECT_GT(blind, 2 * own);
  EXPECT_LT(known, 1.1 * own);
}

TEST(SharedStorageTest, TwoReadersGoToDifferentNodesWhereTheProductKnowsIt) {
  const auto nodes = [](bool known) {
    const SimulationRun run = RunOfReaders(Readers(2), StorageOptions{kOwnStorage, known});
    return std::pair(run.places[0].nodes, run.places[1].nodes);
  };
  EXPECT_EQ(nodes(false).first, nodes(false).second);
  EXPECT_NE(nodes(true).first, nodes(true).second);
}

TEST(SharedStorageTest, IsRefusedWithWhatIsNotSimulatedWithIt) {
  const ModelProfiles profiles = ReaderAndOther();
  ProductOptions options;
  options.storage = StorageOptions{kOwnStorage, false};
  options.live_profiles = true;
  EXPECT_FALSE(
      SimulateProduct(ClusterOf(1, {Gpus(4), Cores(8), GB(240)}), Readers(1), profiles, options));
}

}  // namespace
}  // namespace synergy::testing
