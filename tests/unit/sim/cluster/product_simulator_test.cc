#include "sim/cluster/product_simulator.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/gang.h"
#include "cluster/node_selection.h"
#include "core/random.h"

namespace synergy::testing {
namespace {

constexpr double kExact = 1e-6;  // seconds

// Returns a profile with one memory amount, and the throughputs with 1, 2, ... cores.
std::shared_ptr<const JobProfile> Profile(const std::vector<double>& by_cores) {
  std::vector<JobProfile::Point> points;
  for (size_t cores = 1; cores <= by_cores.size(); ++cores) {
    points.push_back({Cores(static_cast<int64_t>(cores)), GiB(10), by_cores[cores - 1]});
  }
  return std::make_shared<const JobProfile>(*JobProfile::Create(Gpus(1), std::move(points)));
}

// The fair share is always two cores per GPU.
ModelProfiles Models() {
  ModelProfiles profiles;
  profiles.Set("sensitive", Profile({1, 2, 3}));
  profiles.Set("lukewarm", Profile({0.5, 1, 1.1}));
  profiles.Set("insensitive", Profile({1}));
  return profiles;
}

ProductJob JobOf(uint64_t id, std::string model, double arrival, double ideal, int64_t gpus = 1) {
  const double fair = model == "sensitive" ? 2 : 1;
  return {id, std::move(model), Gpus(gpus), Seconds(arrival), Seconds(ideal), fair};
}

StartingCluster Cluster(size_t nodes, int64_t gpus) {
  return ClusterOf(nodes, {Gpus(gpus), Cores(2 * gpus), GiB(20 * gpus)});
}

ProductOptions Options(Enforcement enforcement) {
  ProductOptions options;
  options.enforcement = enforcement;
  options.restart_cost = Duration::zero();
  return options;
}

SimulationRun RunOn(const StartingCluster& cluster, const std::vector<ProductJob>& jobs,
                    const ProductOptions& options = Options(Enforcement::kStrict),
                    ProductObserver* observer = nullptr) {
  const ModelProfiles profiles = Models();
  auto run = SimulateProduct(cluster, jobs, profiles, options, {}, observer);
  EXPECT_TRUE(run) << run.error().message;
  return run ? *std::move(run) : SimulationRun{};
}

TEST(ProductSimulatorTest, JobAloneEndsWhenItsWorkWithItsDemandIsDone) {
  const SimulationRun run = RunOn(Cluster(1, 2), {JobOf(7, "sensitive", 5, 150)});
  // It is chosen 10 ms after it arrives, bound 50 ms later, and runs another second later.
  EXPECT_NEAR(run.jobs[0].start.count(), 5 + 1.06, kExact);
  // With three cores it is one and a half times as fast as with its share.
  EXPECT_NEAR(run.jobs[0].finish.count(), 5 + 1.06 + 100, kExact);
  EXPECT_EQ(run.places[0].nodes, "node-0001");
  EXPECT_EQ(run.places[0].bound_with, (ResourceVector{Gpus(1), Cores(3), GiB(10)}));
}

TEST(ProductSimulatorTest, StartLosesTheRestartCost) {
  ProductOptions options = Options(Enforcement::kStrict);
  options.restart_cost = std::chrono::seconds(30);
  const SimulationRun run = RunOn(Cluster(1, 2), {JobOf(0, "insensitive", 0, 100)}, options);
  EXPECT_NEAR(run.jobs[0].finish.count(), 1.06 + 30 + 100, kExact);
}

TEST(ProductSimulatorTest, LatenciesAreThoseAskedFor) {
  ProductOptions options = Options(Enforcement::kStrict);
  options.latencies.schedule = std::chrono::seconds(1);
  options.latencies.bind = std::chrono::seconds(2);
  options.latencies.start = std::chrono::seconds(4);
  const SimulationRun run = RunOn(Cluster(1, 2), {JobOf(0, "insensitive", 0, 100)}, options);
  EXPECT_NEAR(run.jobs[0].start.count(), 7, kExact);
}

TEST(ProductSimulatorTest, RoomForANewJobIsCutFromTheJobThatLosesLeast) {
  // Both have three of the six cores when the third arrives, which has a floor of one.
  const SimulationRun run =
      RunOn(Cluster(1, 3), {JobOf(0, "sensitive", 0, 1500), JobOf(1, "lukewarm", 0, 1000),
                            JobOf(2, "insensitive", 100, 50)});
  // It is refused after 10 ms. The tuner cuts 60 ms after the arrival, which is in force after a
  // second; then everything is as usual.
  EXPECT_NEAR(run.jobs[2].start.count(), 100 + 0.06 + 1 + 0.01 + 0.05 + 1, kExact);
  EXPECT_NEAR(run.jobs[2].finish.count(), run.jobs[2].start.count() + 50, kExact);
  // The sensitive one has kept its speed.
  EXPECT_NEAR(run.jobs[0].finish.count(), 1.06 + 1000, kExact);
  EXPECT_EQ(run.jobs[0].resizes, 0U);
  EXPECT_GE(run.jobs[1].resizes, 1U);
}

TEST(ProductSimulatorTest, CutPodGrowsBackInTheRoundAfterAPodLeft) {
  const std::vector<ProductJob> jobs = {JobOf(0, "sensitive", 0, 1000),
                                        JobOf(1, "sensitive", 10, 100)};
  const SimulationRun run = RunOn(Cluster(1, 2), jobs);
  const double cut_asked = 10 + 0.06;
  const double cut = cut_asked + 1;
  EXPECT_NEAR(run.jobs[1].start.count(), cut + 0.01 + 0.05 + 1, kExact);
  EXPECT_NEAR(run.jobs[1].finish.count(), run.jobs[1].start.count() + 100, kExact);
  // There is one change per round: announced 300 s after the cut, made after a second, and in force
  // after another.
  const double grown = cut_asked + 300 + 1 + 1;
  const double done = (cut - 1.06) * 1.5 + (grown - cut) * 1;
  EXPECT_NEAR(run.jobs[0].finish.count(), grown + (1000 - done) / 1.5, kExact);
  EXPECT_EQ(run.jobs[0].resizes, 2U);
}

TEST(ProductSimulatorTest, VacatedPlaceGoesToAFittingPodBeforeAnyCut) {
  ProductOptions options = Options(Enforcement::kStrict);
  // This holds even if the tuner takes no time.
  options.latencies.tune = Duration::zero();
  const SimulationRun run =
      RunOn(Cluster(1, 2),
            {JobOf(0, "sensitive", 0, 10'000), JobOf(1, "insensitive", 1, 100),
             JobOf(2, "sensitive", 10, 100), JobOf(3, "insensitive", 20, 100)},
            options);
  // One core is left. That is not enough for the third job, which is tried first, but for the
  // fourth.
  const double left = run.jobs[1].finish.count();
  EXPECT_NEAR(run.jobs[3].start.count(), left + 0.01 + 0.01 + 0.05 + 1, kExact);
  // No other job fits when that one ends. A second later the first job is cut for the third.
  const double left_again = run.jobs[3].finish.count();
  EXPECT_NEAR(run.jobs[2].start.count(), left_again + 1 + 1 + 0.01 + 0.05 + 1, kExact);
}

TEST(ProductSimulatorTest, SharedCpuGoesToPodsThatGainBeforeAnyResize) {
  const std::vector<ProductJob> jobs = {JobOf(0, "sensitive", 0, 1000),
                                        JobOf(1, "sensitive", 10, 100)};
  const SimulationRun run = RunOn(Cluster(1, 2), jobs, Options(Enforcement::kShared));
  // It has two cores while both run, and three before and after.
  const double together = run.jobs[1].finish.count() - run.jobs[1].start.count();
  EXPECT_NEAR(together, 100, kExact);
  EXPECT_NEAR(run.jobs[0].finish.count(), 1.06 + together + (1000 - together) / 1.5, kExact);
}

TEST(ProductSimulatorTest, JobLargerThanANodeRunsWhenAllItsPodsDo) {
  ProductOptions options = Options(Enforcement::kStrict);
  options.spread_factor = 0.5;
  const SimulationRun run = RunOn(Cluster(2, 2), {JobOf(0, "insensitive", 0, 100, 4)}, options);
  EXPECT_EQ(run.places[0].nodes, "node-0001 node-0002");
  // The second pod is tried 10 ms after the first.
  EXPECT_NEAR(run.jobs[0].start.count(), 0.02 + 0.05 + 1, kExact);
  EXPECT_NEAR(run.jobs[0].finish.count(), run.jobs[0].start.count() + 200, kExact);
}

// Returns a cluster in which one GPU of each node is always taken.
StartingCluster HalfTaken(size_t nodes, size_t per_rack) {
  StartingCluster cluster = ClusterOf(nodes, {Gpus(2), Cores(4), GiB(40)}, per_rack);
  for (const Node& node : cluster.nodes) {
    Pod pod;
    pod.uid = pod.name = "on-" + node.name;
    pod.pod_namespace = "others";
    pod.node = node.name;
    pod.requests.main = {Gpus(1), Cores(2), GiB(20)};
    cluster.pods.push_back(pod);
  }
  return cluster;
}

ProductOptions OnePodForEachGpu() {
  ProductOptions options = Options(Enforcement::kStrict);
  options.pod_gpus = Gpus(1);
  options.spread_factor = 0.5;
  options.rack_spread_factor = 0.25;
  return options;
}

TEST(ProductSimulatorTest, AGangWaitsForANodeAndThenForARack) {
  StartingCluster cluster = HalfTaken(3, 2);
  const ProductOptions options = OnePodForEachGpu();
  const SimulationRun run = RunOn(cluster, {JobOf(0, "insensitive", 0, 100, 2)}, options);
  EXPECT_EQ(run.places[0].nodes, "node-0001 node-0002");
  EXPECT_EQ(run.places[0].tier, SpreadTier::kRack);
  EXPECT_NEAR(run.places[0].waited_for_locality.count(), 30, 0.02);  // plus the attempt
  // Two of six GPUs were reserved and idle.
  EXPECT_NEAR(run.kept_idle, 30.0 * 2 / 6 / (run.end - run.begin).count(), 1e-4);
  EXPECT_NEAR(run.jobs[0].start.count(), 30 + 0.02 + 0.05 + 0.01 + 1, 0.05);
  EXPECT_NEAR(run.jobs[0].finish.count(), run.jobs[0].start.count() + 200, kExact);
}

TEST(ProductSimulatorTest, AGangGoesAnywhereAtOnceWithoutWaits) {
  ProductOptions options = OnePodForEachGpu();
  options.locality.node_wait = options.locality.rack_wait = {};
  const SimulationRun run = RunOn(HalfTaken(2, 1), {JobOf(0, "insensitive", 0, 100, 2)}, options);
  EXPECT_EQ(run.places[0].tier, SpreadTier::kAnywhere);
  EXPECT_EQ(run.places[0].waited_for_locality, Seconds(0));
  EXPECT_EQ(run.kept_idle, 0);
  EXPECT_NEAR(run.jobs[0].finish.count(), run.jobs[0].start.count() + 400, kExact);
}

TEST(ProductSimulatorTest, AGangIsPlacedWholeOrNotAtAll) {
  ProductOptions options = OnePodForEachGpu();
  // If pods were bound one by one, each gang would get half of the cluster.
  const SimulationRun run =
      RunOn(Cluster(2, 2), {JobOf(0, "insensitive", 0, 100, 3), JobOf(1, "insensitive", 0, 100, 3)},
            options);
  EXPECT_GT(run.jobs[1].start, run.jobs[0].finish);
}

// Records when each pod is first bound.
class WhenBound final : public ProductObserver {
 public:
  explicit WhenBound(std::string uid) : uid_(std::move(uid)) {}
  void Look(Seconds at, const ClusterSnapshot& cluster) override {
    for (NodeIndex index = 0; index < cluster.size(); ++index) {
      for (const auto& pod : cluster.node(index).detail->pods) {
        if (pod->uid == uid_ && !pod->waiting && !bound) bound = at;
      }
    }
  }
  std::optional<Seconds> bound;

 private:
  const std::string uid_;
};

// The extender behaves so: it uses the conditions that kube-scheduler has written on the pods.
TEST(ProductSimulatorTest, AGangThatHasWaitedBeforeTheBeginningWaitsForNoNode) {
  StartingCluster cluster = HalfTaken(3, 0);
  for (const char* name : {"g-0", "g-1"}) {
    Pod pod;
    pod.uid = pod.name = name;
    pod.pod_namespace = "others";
    pod.requests.main = {Gpus(1), Cores(1), GiB(1)};
    pod.gang = std::make_shared<const Gang>(Gang{"others/g", 2, {}, {}});
    Waiting waiting;
    waiting.since = cluster.at - std::chrono::minutes(10);
    waiting.selection = std::make_shared<const NodeSelection>();
    pod.waiting = std::make_shared<const Waiting>(std::move(waiting));
    cluster.pods.push_back(pod);
  }
  WhenBound seen("g-1");
  RunOn(cluster, {JobOf(0, "insensitive", 0, 100)}, OnePodForEachGpu(), &seen);
  ASSERT_TRUE(seen.bound);
  EXPECT_LT(*seen.bound, Seconds(1));
}

TEST(ProductSimulatorTest, PodsThatAreThereAtTheBeginningKeepTheirPlace) {
  StartingCluster cluster = Cluster(1, 2);
  Pod pod;
  pod.uid = pod.name = "service";
  pod.pod_namespace = "others";
  pod.node = "node-0001";
  pod.requests.main = {Gpus(1), Cores(2), GiB(20)};
  cluster.pods.push_back(pod);
  const SimulationRun run =
      RunOn(cluster, {JobOf(0, "insensitive", 0, 100), JobOf(1, "insensitive", 1, 100)});
  // Both use the same GPU.
  EXPECT_GT(run.jobs[1].start, run.jobs[0].finish);
  EXPECT_NEAR(run.jobs[1].start.count(), run.jobs[0].finish.count() + 1.06, kExact);
}

TEST(ProductSimulatorTest, ChangesAreThoseOfJobsAndOfPodsThatWereThere) {
  StartingCluster cluster = Cluster(1, 2);
  Pod pod;
  pod.uid = pod.name = "service";
  pod.pod_namespace = "others";
  pod.node = "node-0001";
  pod.requests.main = {Gpus(1), Cores(2), GiB(20)};
  cluster.pods.push_back(pod);
  ProductOptions options = Options(Enforcement::kStrict);
  options.keep_changes = true;
  options.remaining = Seconds(500);
  const SimulationRun run = RunOn(cluster, {JobOf(7, "insensitive", 0, 1000)}, options);
  ASSERT_EQ(run.changes.size(), 3U);
  EXPECT_EQ(run.changes[0].job, 7U);
  EXPECT_EQ(run.changes[0].kind, PlaceChange::Kind::kBound);
  EXPECT_EQ(run.changes[0].pod, "job-7-0");
  EXPECT_EQ(run.changes[1].job, std::nullopt);
  EXPECT_EQ(run.changes[1].kind, PlaceChange::Kind::kGone);
  EXPECT_EQ(run.changes[1].pod, "service");
  EXPECT_EQ(run.changes[2].job, 7U);
}

TEST(ProductSimulatorTest, TruncatedRunHasTheLastSpeedOfEachJob) {
  ProductOptions options = Options(Enforcement::kStrict);
  options.until = Seconds(100);
  const SimulationRun run =
      RunOn(Cluster(1, 2),
            {JobOf(0, "sensitive", 0, 1000), JobOf(1, "insensitive", 10, 50),
             JobOf(2, "insensitive", 20, 1000), JobOf(3, "insensitive", 30, 1000)},
            options);
  // The second job has finished; the last one waits for its GPU.
  EXPECT_EQ(run.last_speeds, (std::vector<double>{1.5, 0, 1, 0}));
  EXPECT_EQ(run.end, Seconds(100));
  EXPECT_GT(run.jobs[1].finish, Seconds(0));
  for (const size_t unfinished : {0U, 2U, 3U}) {
    EXPECT_EQ(run.jobs[unfinished].finish, Seconds(-1));
  }
  EXPECT_EQ(run.jobs[3].start, Seconds(-1));
}

TEST(ProductSimulatorTest, ProfilesThatComeLateAreUsedFromThenOn) {
  const auto finish_with = [](std::optional<Duration> after) {
    ProductOptions options = Options(Enforcement::kStrict);
    options.profiles_after = after;
    const SimulationRun run = RunOn(
        Cluster(1, 2), {JobOf(0, "sensitive", 0, 1500), JobOf(1, "insensitive", 0, 1500)}, options);
    return run.jobs[0].finish.count();
  };
  EXPECT_NEAR(finish_with(std::nullopt), 1000, 5);
  // The tuner's rounds are 300 s long: in one of them the other pod is cut, and in the next this
  // one grows.
  EXPECT_NEAR(finish_with(std::chrono::seconds(1)), 600 + 900 / 1.5, 5);
  EXPECT_NEAR(finish_with(std::chrono::seconds(600)), 900 + 600 / 1.5, 5);
  EXPECT_NEAR(finish_with(std::chrono::hours(1)), 1500, 5) << "with its fair share";
}

TEST(ProductSimulatorTest, BlindlyPlacedJobsStay) {
  const auto slowest_with = [](std::optional<Duration> after) {
    ProductOptions options = Options(Enforcement::kStrict);
    options.profiles_after = after;
    // The last job arrives after the profiles are known.
    const SimulationRun run =
        RunOn(Cluster(2, 2),
              {JobOf(0, "sensitive", 0, 1500), JobOf(1, "sensitive", 0, 1500),
               JobOf(2, "insensitive", 0, 1500), JobOf(3, "insensitive", 2, 1500)},
              options);
    return std::max(run.jobs[0].finish, run.jobs[1].finish).count();
  };
  EXPECT_NEAR(slowest_with(std::nullopt), 1000, 5) << "each beside one that needs little";
  EXPECT_NEAR(slowest_with(std::chrono::seconds(1)), 1500, 5) << "beside each other";
}

TEST(ProductSimulatorTest, JobsThatNeverRunAreRefused) {
  const ModelProfiles profiles = Models();
  const auto error = [&](const ProductJob& job) {
    const std::vector<ProductJob> jobs = {job};
    const auto run = SimulateProduct(Cluster(1, 2), jobs, profiles, {});
    return run ? std::string("none") : run.error().message;
  };
  EXPECT_EQ(error(JobOf(3, "sensitive", 0, 1, 8)), "job 3 asks for 8 GPUs, but the cluster has 2");
  EXPECT_NE(error(JobOf(3, "unknown", 0, 1)).find("there is no TrainingProfile \"unknown\""),
            std::string::npos);
}

TEST(ProductSimulatorTest, NoGangHasMoreMembersThanTheProductLetsItHave) {
  const ModelProfiles profiles = Models();
  ProductOptions options = OnePodForEachGpu();
  const auto error = [&](int64_t gpus) {
    const std::vector<ProductJob> jobs = {JobOf(3, "insensitive", 0, 1, gpus)};
    const auto run = SimulateProduct(Cluster(1, 300), jobs, profiles, options);
    return run ? std::string("none") : run.error().message;
  };
  EXPECT_EQ(error(256), "none");
  EXPECT_EQ(error(257), "job-3 needs 257 pods, and a gang has 256 at most");
}

// Checks that a node's pods, as the kubelet sees them, never take more than the node has.
class NeverTooMuch final : public ProductObserver {
 public:
  void Look(Seconds at, const ClusterSnapshot& cluster) override {
    ++looks;
    for (NodeIndex index = 0; index < cluster.size(); ++index) {
      const NodeState& node = cluster.node(index);
      ResourceVector held;
      for (const auto& pod : node.detail->pods) {
        // it is being bound, or is a place that is kept before its room is made
        if (pod->waiting) continue;
        held += LargerOf(LargerOf(pod->fungible->requested, pod->fungible->set_aside),
                         pod->fungible->in_force);
        EXPECT_TRUE(pod->fungible->floor.FitsWithin(pod->fungible->requested)) << pod->uid;
      }
      EXPECT_TRUE(held.FitsWithin(node.allocatable)) << node.detail->name << " at " << at.count();
    }
  }
  int looks = 0;
};

std::vector<ProductJob> RandomJobs(uint64_t seed) {
  constexpr const char* kModels[] = {"sensitive", "lukewarm", "insensitive"};
  Random random(seed);
  std::vector<ProductJob> jobs;
  double arrival = 0;
  for (uint64_t id = 0; id < 150; ++id) {
    arrival += static_cast<double>(random.Below(20'000)) / 100;
    const int64_t gpus = int64_t{1} << random.Below(4);
    jobs.push_back(JobOf(id, kModels[random.Below(3)], arrival,
                         10 + static_cast<double>(random.Below(2000)), gpus));
  }
  return jobs;
}

TEST(ProductSimulatorTest, OverallocatesNoNodeAndCutsNoJobBelowItsFloor) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    NeverTooMuch observer;
    const SimulationRun run =
        RunOn(Cluster(4, 4), RandomJobs(seed), Options(Enforcement::kShared), &observer);
    EXPECT_EQ(run.jobs.size(), 150U);
    EXPECT_GT(observer.looks, 1000);
    for (const JobRun& job : run.jobs) EXPECT_GT(job.finish, job.start);
  }
}

TEST(ProductSimulatorTest, TheSameInputGivesTheSameRun) {
  const auto figures = [] {
    const SimulationRun run = RunOn(Cluster(4, 4), RandomJobs(3), Options(Enforcement::kShared));
    std::vector<std::pair<double, double>> times;
    for (const JobRun& job : run.jobs) times.emplace_back(job.start.count(), job.finish.count());
    return std::pair(times, run.gpu_utilisation);
  };
  EXPECT_EQ(figures(), figures());
}

}  // namespace
}  // namespace synergy::testing
