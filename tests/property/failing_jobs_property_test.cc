// Failing jobs in the simulated product, under generated loads, queues, faults and assumptions: no
// GPU time is unaccounted for, stop-futile never makes failures cost more, and a table without
// failures changes nothing.

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "policy/policy.h"
#include "sim/cluster/product_simulator.h"
#include "support/random_jobs.h"

namespace synergy::testing {
namespace {

using std::chrono::seconds;

constexpr int64_t kGpus = 4;
constexpr ResourceVector kServer{Gpus(kGpus), Cores(12), GiB(80)};
constexpr size_t kServers = 3;
constexpr uint64_t kSeeds = 12;

ModelProfiles Models() {
  ModelProfiles profiles;
  for (const auto& [model, scale] : {std::pair("a", 1.0), std::pair("b", 0.3)}) {
    std::vector<JobProfile::Point> points;
    for (int64_t cores = 1; cores <= 6; ++cores)
      points.push_back({Cores(cores), GiB(10), 1 + scale * static_cast<double>(cores)});
    profiles.Set(
        model, std::make_shared<const JobProfile>(*JobProfile::Create(Gpus(1), std::move(points))));
  }
  return profiles;
}

constexpr RandomJobs kJobs{.jobs = 40, .models = 2, .gap = 300, .large_one_in = 5, .work = 6000};

// Failures that stop-futile may act on always happen again.
std::vector<FailureAssumption> GeneratedAssumptions(Random& random, bool by_node) {
  std::vector<FailureAssumption> failures;
  for (uint64_t left = 1 + random.Below(6); left > 0; --left) {
    FailureAssumption failure;
    failure.category = CategoryEntries()[random.Below(kCategories)].category;
    failure.jobs = random.Uniform() / 6;
    failure.median = Seconds(10 + 300 * random.Uniform());
    failure.mean = failure.median * (1 + 3 * random.Uniform());
    if (EntryOf(failure.category).stops == StopsAfter::kNever) {
      failure.again = failure.again_same_node = random.Uniform();
      if (by_node) failure.again = 0;
    }
    failure.tries = static_cast<uint32_t>(1 + random.Below(7));
    if (random.Below(2) == 0) failure.checkpoint = Seconds(60 + 600 * random.Uniform());
    failures.push_back(failure);
  }
  return failures;
}

ProductOptions GeneratedOptions(Random& random, uint64_t seed) {
  ProductOptions options;
  options.restart_cost = seconds(random.Below(30));
  options.pod_gpus = Gpus(random.Below(2) == 0 ? 1 : kGpus);
  if (random.Below(2) == 0) options.enforcement = Enforcement::kStrict;
  if (random.Below(4) == 0) options.baseline = NodeOrder::kLeastAllocated;
  if (random.Below(3) != 0) {
    options.queue.emplace();
    RoundSettings& rounds = options.queue->rounds;
    rounds.policy = PolicyNames()[random.Below(PolicyNames().size())].name;
    rounds.round = seconds(60 + random.Below(300));
    rounds.restart_cost = options.restart_cost;
    rounds.sizes = {1000, 5000, 20'000};
  }
  options.faults.seed = seed;
  if (random.Below(3) == 0) options.faults.call_fails = 0.2 * random.Uniform();
  if (random.Below(3) == 0) options.faults.node_lost = 4;
  options.limit = Seconds(60.0 * 24 * 3600);
  return options;
}

struct Scene {
  // `by_node`: whether a failure happens again depends on the node.
  explicit Scene(uint64_t seed, bool by_node = true) : profiles(Models()) {
    Random random(seed);
    jobs = MakeRandomJobs(random, profiles, kJobs);
    options = GeneratedOptions(random, seed);
    options.failures.emplace();
    options.failures->assumptions = GeneratedAssumptions(random, by_node);
    options.failures->seed = seed;
  }

  SimulationRun Run() const {
    auto run = SimulateProduct(ClusterOf(kServers, kServer), jobs, profiles, options);
    EXPECT_TRUE(run) << run.error().message;
    return run ? *std::move(run) : SimulationRun();
  }

  ModelProfiles profiles;
  std::vector<ProductJob> jobs;
  ProductOptions options;
};

void ExpectSame(const SimulationRun& one, const SimulationRun& other) {
  ASSERT_EQ(one.jobs.size(), other.jobs.size());
  for (size_t job = 0; job < one.jobs.size(); ++job) {
    ASSERT_EQ(one.jobs[job].start, other.jobs[job].start) << job;
    ASSERT_EQ(one.jobs[job].finish, other.jobs[job].finish) << job;
  }
  EXPECT_EQ(one.gpu_utilisation, other.gpu_utilisation);
  EXPECT_EQ(one.rounds, other.rounds);
}

TEST(FailingJobsProperty, ATableWithoutFailuresChangesNothing) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Scene scene(seed);
    for (FailureAssumption& failure : scene.options.failures->assumptions) failure.jobs = 0;
    scene.options.failures->actions = {true, true, true};
    const SimulationRun with = scene.Run();
    scene.options.failures.reset();
    const SimulationRun without = scene.Run();
    ExpectSame(with, without);
    ASSERT_TRUE(with.failures);
    EXPECT_FALSE(without.failures);
    EXPECT_EQ(with.failures->trials, 0U);
    EXPECT_EQ(with.failures->Lost(), Seconds(0));
  }
}

TEST(FailingJobsProperty, EveryJobEndsAndAllGpuTimeIsAccountedFor) {
  uint64_t failed = 0;
  uint64_t caught = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Scene scene(seed);
    scene.options.failures->actions.stop_futile = seed % 2 == 0;
    scene.options.failures->actions.elsewhere = seed % 3 == 0;
    scene.options.failures->prerun = seed % 5 < 3;
    const SimulationRun run = scene.Run();
    uint64_t failed_here = 0;
    for (const JobRun& job : run.jobs) {
      EXPECT_GE(job.finish.count(), 0) << job.id;
      failed_here += job.failed ? 1 : 0;
    }
    ASSERT_TRUE(run.failures);
    const FailureFigures& figures = *run.failures;
    EXPECT_EQ(figures.failed_jobs, failed_here);
    EXPECT_LE(figures.stopped_jobs + figures.caught_jobs, figures.failed_jobs);
    const double parts = (figures.useful + figures.Lost() + figures.prerun).count();
    EXPECT_NEAR(figures.busy.count(), parts, 1e-9 * parts);
    const double allocated =
        run.gpu_utilisation * static_cast<double>(kGpus * kServers) * (run.end - run.begin).count();
    EXPECT_LE((figures.busy - figures.prerun).count(), allocated * (1 + 1e-9));
    ExpectSame(run, scene.Run());
    failed += failed_here;
    caught += figures.caught_jobs;
  }
  EXPECT_GT(failed, 0U);
  EXPECT_GT(caught, 0U);
}

TEST(FailingJobsProperty, StopFutileNeverMakesFailuresCostMore) {
  uint64_t stopped = 0;
  for (uint64_t seed = 0; seed < 2 * kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Scene scene(seed, false);
    const SimulationRun without = scene.Run();
    scene.options.failures->actions.stop_futile = true;
    const SimulationRun with = scene.Run();
    ASSERT_TRUE(with.failures && without.failures);
    EXPECT_LE(with.failures->Lost().count(), without.failures->Lost().count() * (1 + 1e-12));
    EXPECT_LE(with.failures->trials, without.failures->trials);
    EXPECT_EQ(with.failures->failed_jobs, without.failures->failed_jobs);
    EXPECT_EQ(without.failures->stopped_jobs, 0U);
    stopped += with.failures->stopped_jobs;
    // The others fail as before.
    for (const Cause cause : {Cause::kEngine, Cause::kInfrastructure}) {
      EXPECT_NEAR(with.failures->LostBy(cause).count(), without.failures->LostBy(cause).count(),
                  1e-6);
    }
  }
  EXPECT_GT(stopped, 0U);
}

TEST(FailingJobsProperty, OtherNodesSpareJobsTheFailuresOfOne) {
  uint64_t with = 0;
  uint64_t without = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Scene scene(seed);
    FailureAssumption failure;
    failure.category = Category::kGpuLost;
    failure.jobs = 0.5;
    failure.median = failure.mean = Seconds(60);
    failure.again = 0;
    failure.again_same_node = 1;
    failure.tries = 5;
    scene.options.failures->assumptions = {failure};
    without += scene.Run().failures->trials;
    scene.options.failures->actions.elsewhere = true;
    with += scene.Run().failures->trials;
  }
  EXPECT_LT(with, without);
}

}  // namespace
}  // namespace synergy::testing
