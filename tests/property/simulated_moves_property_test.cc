// Tests moves of running jobs in the simulated product under generated loads: no node has more
// GPUs in use than it has, no job moves twice, and a run without a move is exactly the run in which
// no job may move.

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "sim/cluster/product_simulator.h"

namespace synergy::testing {
namespace {

constexpr int64_t kNodeGpus = 4;
constexpr ResourceVector kMoveServer{Gpus(kNodeGpus), Cores(12), GiB(80)};

ModelProfiles MoveModels(Random& random) {
  ModelProfiles profiles;
  for (const char* model : {"a", "b"}) {
    std::vector<JobProfile::Point> points;
    double throughput = 0;
    for (int64_t cores = 1; cores <= 3; ++cores) {
      throughput += random.Uniform();
      points.push_back({Cores(cores), GiB(10), throughput + 0.1});
    }
    profiles.Set(
        model, std::make_shared<const JobProfile>(*JobProfile::Create(Gpus(1), std::move(points))));
  }
  return profiles;
}

// Returns jobs with these numbers of GPUs.
std::vector<ProductJob> MoveLoad(Random& random, const ModelProfiles& profiles,
                                 const std::vector<int64_t>& sizes) {
  std::vector<ProductJob> jobs;
  double arrival = 0;
  for (uint64_t id = 0; id < 25; ++id) {
    arrival += static_cast<double>(random.Below(1200));
    const std::string model(1, static_cast<char>('a' + random.Below(2)));
    const int64_t gpus = sizes[random.Below(sizes.size())];
    const double fair =
        profiles.Find("training", model, Gpus(1)).profile->ThroughputAt(Cores(3), GiB(20));
    ProductJob job{id,
                   model,
                   Gpus(gpus),
                   Seconds(arrival),
                   Seconds(static_cast<double>(300 + random.Below(12'000))),
                   fair * static_cast<double>(gpus)};
    job.iterations = job.ideal.count() * 2;
    jobs.push_back(job);
  }
  return jobs;
}

void ExpectEachJobEndsAndMovesAtMostOnce(const SimulationRun& run) {
  uint64_t restarts = 0;
  for (const JobRun& job : run.jobs) {
    EXPECT_GE(job.finish, Seconds(0)) << job.id;
    EXPECT_LE(job.restarts, 1U) << job.id;
    restarts += job.restarts;
  }
  EXPECT_EQ(restarts, run.moves->moves);
}

class GpuObserver final : public ProductObserver {
 public:
  void Look(Seconds at, const ClusterSnapshot& cluster) override {
    for (NodeIndex index = 0; index < cluster.size(); ++index) {
      const NodeState& node = cluster.node(index);
      Gpus used;
      for (const auto& pod : node.detail->pods) {
        if (!pod->waiting) used += pod->requests.main.gpus;
      }
      if (used > node.allocatable.gpus && fault.empty())
        fault = node.detail->name + " at " + std::to_string(at.count());
    }
  }
  std::string fault;
};

void ExpectSame(const SimulationRun& run, const SimulationRun& other) {
  ASSERT_EQ(run.jobs.size(), other.jobs.size());
  for (size_t job = 0; job < run.jobs.size(); ++job) {
    EXPECT_EQ(run.jobs[job].start, other.jobs[job].start) << job;
    EXPECT_EQ(run.jobs[job].finish, other.jobs[job].finish) << job;
    EXPECT_EQ(run.jobs[job].resizes, other.jobs[job].resizes) << job;
    EXPECT_EQ(run.places[job].nodes, other.places[job].nodes) << job;
    EXPECT_EQ(run.places[job].bound_with, other.places[job].bound_with) << job;
  }
  ASSERT_EQ(run.timeline.size(), other.timeline.size());
  for (size_t point = 0; point < run.timeline.size(); ++point) {
    EXPECT_EQ(run.timeline[point].at, other.timeline[point].at);
    EXPECT_EQ(run.timeline[point].gpus, other.timeline[point].gpus);
    EXPECT_EQ(run.timeline[point].cpu, other.timeline[point].cpu);
  }
}

TEST(SimulatedMovesProperty, NoNodeHasTooManyGpusInUseAndNoJobMovesTwice) {
  uint64_t moves = 0;
  uint64_t runs_without = 0;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const ModelProfiles profiles = MoveModels(random);
    // A job of six GPUs is a gang of two pods.
    const std::vector<ProductJob> jobs =
        MoveLoad(random, profiles,
                 random.Below(3) == 0 ? std::vector<int64_t>{1, 2, 3, 4, 6}
                                      : std::vector<int64_t>{1, 2, 2, 4});
    ProductOptions options;
    options.restart_cost = std::chrono::seconds(1 + random.Below(60));
    if (random.Below(2) == 0) options.faults.call_fails = 0.2 * random.Uniform();
    options.faults.seed = seed;
    if (random.Below(3) == 0) options.enforcement = Enforcement::kStrict;
    if (random.Below(4) == 0) options.reservations.emplace();
    const size_t nodes = 3 + random.Below(2);
    StartingCluster cluster = ClusterOf(nodes, kMoveServer);
    SetProduct("fast", std::span(cluster.nodes).first(1));
    SetProduct("slow", std::span(cluster.nodes).subspan(1));
    options.gpu_speeds.of_products = {{"fast", 1.5}, {"slow", 0.5}};
    const auto without = SimulateProduct(cluster, jobs, profiles, options);
    ASSERT_TRUE(without) << without.error().message;
    options.moves.emplace().after = std::chrono::seconds(random.Below(300));
    GpuObserver observer;
    const auto run = SimulateProduct(cluster, jobs, profiles, options, {}, &observer);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(observer.fault, "");
    ExpectEachJobEndsAndMovesAtMostOnce(*run);
    EXPECT_LE(run->moves->in_vain, run->moves->moves);
    EXPECT_EQ(run->moves->gpu_time_lost > Seconds(0), run->moves->moves > 0);
    moves += run->moves->moves;
    if (run->moves->moves == 0) {
      ++runs_without;
      if (options.faults.call_fails == 0) ExpectSame(*run, *without);
    }
  }
  EXPECT_GT(moves, 4U);
  EXPECT_GT(runs_without, 3U);
}

TEST(SimulatedMovesProperty, NothingChangesWithoutFragmentation) {
  for (uint64_t seed = 100; seed < 105; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const ModelProfiles profiles = MoveModels(random);
    const std::vector<ProductJob> jobs = MoveLoad(random, profiles, {1});
    ProductOptions options;
    const auto without = SimulateProduct(ClusterOf(2, kMoveServer), jobs, profiles, options);
    options.moves.emplace().after = std::chrono::seconds(random.Below(600));
    const auto run = SimulateProduct(ClusterOf(2, kMoveServer), jobs, profiles, options);
    ASSERT_TRUE(without);
    ASSERT_TRUE(run);
    EXPECT_EQ(run->moves->moves, 0U);
    ExpectSame(*run, *without);
  }
}

TEST(SimulatedMovesProperty, JobsOnSharedGpusMoveAtMostOnceAndAllEnd) {
  uint64_t moves = 0;
  for (uint64_t seed = 200; seed < 205; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const ModelProfiles profiles = MoveModels(random);
    const std::vector<ProductJob> jobs = MoveLoad(random, profiles, {1, 2, 4});
    ProductOptions options;
    options.sharing.emplace().height = static_cast<int64_t>(1 + random.Below(3));
    options.moves.emplace();
    GpuObserver observer;
    const auto run =
        SimulateProduct(ClusterOf(3, kMoveServer), jobs, profiles, options, {}, &observer);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(observer.fault, "");
    ExpectEachJobEndsAndMovesAtMostOnce(*run);
    EXPECT_EQ(run->moves->in_vain, 0U);
    moves += run->moves->moves;
  }
  EXPECT_GT(moves, 0U);
}

}  // namespace
}  // namespace synergy::testing
