// Tests the simulated product under generated loads, with queues, faults, pods without GPUs and
// baselines: no node is over-allocated, every job ends, and the same seed gives the same run.

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

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr ResourceVector kServer{Gpus(4), Cores(12), GiB(80)};

ModelProfiles GeneratedModels(Random& random) {
  ModelProfiles profiles;
  for (const char* model : {"a", "b", "c"}) {
    std::vector<JobProfile::Point> points;
    double throughput = 0;
    for (int64_t cores = 1; cores <= 8; ++cores) {
      throughput += random.Uniform();
      points.push_back({Cores(cores), GiB(10), throughput + 0.1});
    }
    profiles.Set(
        model, std::make_shared<const JobProfile>(*JobProfile::Create(Gpus(1), std::move(points))));
  }
  return profiles;
}

ProductOptions GeneratedOptions(Random& random, uint64_t seed) {
  ProductOptions options;
  options.restart_cost = seconds(random.Below(30));
  options.pod_gpus = Gpus(random.Below(2) == 0 ? 1 : 4);
  if (random.Below(2) == 0) options.enforcement = Enforcement::kStrict;
  if (random.Below(4) == 0) {
    options.baseline =
        random.Below(2) == 0 ? NodeOrder::kLeastAllocated : NodeOrder::kMostAllocated;
  }
  if (random.Below(3) != 0) {
    options.queue.emplace();
    RoundSettings& rounds = options.queue->rounds;
    rounds.policy = PolicyNames()[random.Below(PolicyNames().size())].name;
    rounds.round = seconds(60 + random.Below(300));
    rounds.least_run = seconds(random.Below(300));
    rounds.restart_cost = options.restart_cost;
    rounds.sizes = {1000, 5000, 20'000};
    if (random.Below(2) == 0) {
      const char* const typed[] = {"fifo:Aware", "fifo:Ignore", "sjf:Aware", "sjf:Ignore"};
      EXPECT_TRUE(ReadPolicy(typed[random.Below(4)], rounds));
      options.gpu_speeds.of_products = {{"fast", 1.5}, {"slow", 0.5}};
      options.gpu_speeds.of_models = {{{"a", "slow"}, 2}};
    } else if (random.Below(3) == 0) {
      EXPECT_TRUE(ReadPolicy("fifo:Elastic", rounds));
      options.elastic = {.least = 1,
                         .most = static_cast<int64_t>(1 + random.Below(6)),
                         .serial = 0.2 * random.Uniform()};
    }
  }
  options.faults.seed = seed;
  if (random.Below(2) == 0) options.faults.resize_deferred = 0.5 * random.Uniform();
  if (random.Below(2) == 0) options.faults.resize_refused = 0.4 * random.Uniform();
  if (random.Below(2) == 0) options.faults.call_fails = 0.3 * random.Uniform();
  if (random.Below(2) == 0) options.faults.call_late = milliseconds(random.Below(5000));
  if (random.Below(2) == 0) options.faults.node_lost = 4;
  if (random.Below(2) == 0) {
    // These pods take at most a quarter of the cluster, so that no job waits for ever.
    const auto cores = static_cast<int64_t>(1 + random.Below(4));
    options.cpu_pods = {.per_hour = static_cast<double>(1 + random.Below(20)),
                        .requests = {Gpus(0), Cores(cores), GiB(2 * cores)},
                        .lasts = seconds(60 + random.Below(300)),
                        .seed = seed};
  }
  options.limit = Seconds(60.0 * 24 * 3600);
  return options;
}

// Returns what a kubelet has set aside for a pod. Places that the tuner reserves, and growth that
// it has announced, are not allocated yet.
ResourceVector AllocatedTo(const Pod& pod) {
  // The only unmanaged entry with GPUs is the place of a lost gang member. Pods without GPUs may
  // take its CPU and memory.
  if (!pod.fungible && pod.UsesGpus()) return {pod.requests.main.gpus, {}, {}};
  if (!pod.fungible) return pod.requests.main;
  return pod.fungible->reported ? pod.fungible->in_force : pod.fungible->requested;
}

class AllocationObserver : public ProductObserver {
 public:
  void Look(Seconds at, const ClusterSnapshot& cluster) override {
    for (NodeIndex index = 0; index < cluster.size(); ++index) {
      const NodeState& node = cluster.node(index);
      ResourceVector free = node.allocatable;
      for (const auto& pod : node.detail->pods) {
        if (!pod->waiting) free -= AllocatedTo(*pod);
      }
      const bool fits = free.gpus >= Gpus(0) && free.cpu >= MilliCpu(0) && free.memory >= Bytes(0);
      if (!fits && first_fault.empty())
        first_fault = node.detail->name + " at " + std::to_string(at.count());
    }
  }
  std::string first_fault;
};

TEST(ProductSimulatorProperty, NoNodeIsOverAllocatedAndEveryJobEnds) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const ModelProfiles profiles = GeneratedModels(random);
    const std::vector<ProductJob> jobs = MakeRandomJobs(random, profiles, {});
    const ProductOptions options = GeneratedOptions(random, seed);
    StartingCluster cluster = ClusterOf(3, kServer);
    SetProduct("fast", std::span(cluster.nodes).first(1));
    SetProduct("slow", std::span(cluster.nodes).subspan(1));
    AllocationObserver observer;
    const auto run = SimulateProduct(cluster, jobs, profiles, options, {}, &observer);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(observer.first_fault, "");
    for (const JobRun& job : run->jobs) ASSERT_GE(job.finish.count(), 0) << job.id;
    const auto again = SimulateProduct(cluster, jobs, profiles, options);
    ASSERT_TRUE(again);
    for (size_t job = 0; job < jobs.size(); ++job)
      ASSERT_EQ(again->jobs[job].finish, run->jobs[job].finish) << job;
  }
}

class VacancyObserver final : public AllocationObserver {
 public:
  void Look(Seconds at, const ClusterSnapshot& cluster) override {
    AllocationObserver::Look(at, cluster);
    for (NodeIndex index = 0; index < cluster.size(); ++index) {
      for (const auto& pod : cluster.node(index).detail->pods)
        vacancies += !pod->fungible && pod->UsesGpus() ? 1 : 0;
    }
  }
  uint64_t vacancies = 0;  // vacancies seen, over all nodes and times
};

TEST(ProductSimulatorProperty, NoOtherPodTakesTheGpusOfALostGangMember) {
  uint64_t vacancies = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const ModelProfiles profiles = GeneratedModels(random);
    const std::vector<ProductJob> jobs = MakeRandomJobs(random, profiles, {});
    ProductOptions options = GeneratedOptions(random, seed);
    options.pod_gpus = Gpus(1);
    options.elastic.reset();
    options.faults.node_lost = 20 * random.Uniform();
    FailureAssumption failure;
    failure.category = Category::kGpuLost;
    failure.jobs = random.Uniform();
    failure.median = failure.mean = Seconds(10 + 500 * random.Uniform());
    failure.again = failure.again_same_node = random.Uniform();
    failure.tries = static_cast<uint32_t>(2 + random.Below(6));
    failure.checkpoint = Seconds(60);
    options.failures.emplace().assumptions = {failure};
    options.failures->actions.elsewhere = random.Below(2) == 0;
    if (options.queue && options.queue->rounds.elastic) options.queue.reset();
    StartingCluster cluster = ClusterOf(3, kServer);
    SetProduct("fast", std::span(cluster.nodes));
    VacancyObserver observer;
    const auto run = SimulateProduct(cluster, jobs, profiles, options, {}, &observer);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(observer.first_fault, "");
    for (const JobRun& job : run->jobs) ASSERT_GE(job.finish.count(), 0) << job.id;
    if (options.baseline) {
      EXPECT_EQ(observer.vacancies, 0U);
    }
    vacancies += observer.vacancies;
  }
  EXPECT_GT(vacancies, 100U);
}

TEST(ProductSimulatorProperty, PrioritiesEndEveryJobAndEvictNoneOfTheHighest) {
  constexpr int32_t kHighest = 3;
  uint64_t evicted = 0;
  for (uint64_t seed = 0; seed < 15; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const ModelProfiles profiles = GeneratedModels(random);
    std::vector<ProductJob> jobs = MakeRandomJobs(random, profiles, {});
    for (ProductJob& job : jobs) job.priority = static_cast<int32_t>(random.Below(kHighest + 1));
    ProductOptions options = GeneratedOptions(random, seed);
    options.queue.reset();
    options.elastic.reset();
    options.faults.node_lost = 0;
    options.cpu_pods = {};
    const StartingCluster cluster = ClusterOf(2, kServer);
    AllocationObserver observer;
    const auto run = SimulateProduct(cluster, jobs, profiles, options, {}, &observer);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(observer.first_fault, "");
    for (size_t job = 0; job < jobs.size(); ++job) {
      ASSERT_GE(run->jobs[job].finish.count(), 0) << job;
      if (jobs[job].priority == kHighest) {
        EXPECT_EQ(run->jobs[job].restarts, 0U) << job;
      }
      evicted += run->jobs[job].restarts;
    }
    // If all priorities are equal there is nothing to evict, and nothing else changes.
    for (ProductJob& job : jobs) job.priority = kHighest;
    const auto alike = SimulateProduct(cluster, jobs, profiles, options);
    for (ProductJob& job : jobs) job.priority = 0;
    const auto none = SimulateProduct(cluster, jobs, profiles, options);
    ASSERT_TRUE(alike && none);
    for (size_t job = 0; job < jobs.size(); ++job)
      ASSERT_EQ(alike->jobs[job].finish, none->jobs[job].finish) << job;
  }
  EXPECT_GT(evicted, 10U);
}

// Returns mostly jobs with one GPU, so that those that need a whole node wait.
std::vector<ProductJob> JobsOfAllSizes(Random& random, const ModelProfiles& profiles) {
  std::vector<ProductJob> jobs = MakeRandomJobs(random, profiles, {});
  for (ProductJob& job : jobs) {
    const Gpus before = job.gpus;
    job.gpus = Gpus(random.Below(4) == 0 ? 4 : static_cast<int64_t>(1 + random.Below(2)));
    job.fair_throughput *=
        static_cast<double>(job.gpus.count()) / static_cast<double>(before.count());
  }
  return jobs;
}

TEST(ProductSimulatorProperty, EveryJobEndsWithReservationsAndNoNodeIsOverAllocated) {
  size_t predicted = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const ModelProfiles profiles = GeneratedModels(random);
    const std::vector<ProductJob> jobs = random.Below(2) == 0
                                             ? JobsOfAllSizes(random, profiles)
                                             : MakeRandomJobs(random, profiles, {});
    ProductOptions options = GeneratedOptions(random, seed);
    options.queue.reset();
    options.elastic.reset();
    SimulatedReservations& reservations = options.reservations.emplace();
    reservations.settings.after = seconds(random.Below(900));
    reservations.settings.most = 1 + random.Below(3);
    reservations.settings.least_gpus = Gpus(static_cast<int64_t>(random.Below(4)));
    reservations.error = random.Below(3) == 0 ? 0 : 0.5 * random.Uniform();
    reservations.durations_known = random.Below(2) == 0;
    reservations.ends_from_users = random.Below(4) == 0;
    const StartingCluster cluster = ClusterOf(3, kServer);
    AllocationObserver observer;
    const auto run = SimulateProduct(cluster, jobs, profiles, options, {}, &observer);
    ASSERT_TRUE(run) << run.error().message;
    EXPECT_EQ(observer.first_fault, "");
    for (const JobRun& job : run->jobs) ASSERT_GE(job.finish.count(), 0) << job.id;
    for (const JobPlace& place : run->places) predicted += place.predicted ? 1 : 0;
    const auto again = SimulateProduct(cluster, jobs, profiles, options);
    ASSERT_TRUE(again);
    for (size_t job = 0; job < jobs.size(); ++job)
      ASSERT_EQ(again->jobs[job].finish, run->jobs[job].finish) << job;
  }
  EXPECT_GT(predicted, 25U);
}

TEST(ProductSimulatorProperty, ReservationsThatNoJobWaitsForChangeNothing) {
  for (uint64_t seed = 0; seed < 15; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const ModelProfiles profiles = GeneratedModels(random);
    const std::vector<ProductJob> jobs = MakeRandomJobs(random, profiles, {});
    ProductOptions options = GeneratedOptions(random, seed);
    options.queue.reset();
    options.elastic.reset();
    options.faults.node_lost = 0;  // with reservations, gangs restart as a whole
    const StartingCluster cluster = ClusterOf(3, kServer);
    const auto without = SimulateProduct(cluster, jobs, profiles, options);
    options.reservations.emplace().settings.after = std::chrono::hours(24 * 365);
    const auto with = SimulateProduct(cluster, jobs, profiles, options);
    ASSERT_TRUE(without && with);
    for (size_t job = 0; job < jobs.size(); ++job)
      ASSERT_EQ(with->jobs[job].finish, without->jobs[job].finish) << job;
  }
}

}  // namespace
}  // namespace synergy::testing
