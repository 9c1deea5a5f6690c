// Tests trainings whose data come from storage until they have been read once.

#include "sim/cluster/job_progress.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/cluster/product_simulator.h"
#include "sim/cluster/simulated_data.h"

namespace synergy::testing {
namespace {

using std::chrono::seconds;

std::shared_ptr<const JobProfile> ProfileOf(std::vector<JobProfile::Point> points) {
  return std::make_shared<const JobProfile>(*JobProfile::Create(Gpus(1), std::move(points)));
}

class ColdEpochTest : public ::testing::Test {
 protected:
  // Starts `job`, which has 500 iterations to do: one per second for each core, up to three. While
  // its data are cold, in the first hundred, it does half an iteration per second.
  void Start(size_t job, bool cold) {
    running.Begin(job, {.ideal = Seconds(500)});
    JobProgress::RunningPod pod{.uid = std::to_string(job), .job = job};
    pod.in_force = {Gpus(1), Cores(2), GiB(10)};
    pod.profile =
        ProfileOf({{Cores(1), GiB(10), 1}, {Cores(2), GiB(10), 2}, {Cores(3), GiB(10), 3}});
    if (cold) pod.cold_epoch = {.work = 100, .most = 0.5};
    running.Start("n1", std::move(pod), now);
  }

  JobProgress::Finish Next() {
    const auto finishes = running.TakeFinishes();
    const auto next = std::find_if(finishes.rbegin(), finishes.rend(),
                                   [](const auto& finish) { return finish.job == 0; });
    EXPECT_NE(next, finishes.rend());
    return *next;
  }

  Instant now = Instant{} + seconds(1000);
  JobProgress running{{}};
};

TEST_F(ColdEpochTest, AJobIsAsFastAsStorageUntilItsDataWereReadOnce) {
  running.SetNode("n1", Cores(4));
  Start(0, true);
  JobProgress::Finish next = Next();
  EXPECT_TRUE(next.first_epoch);
  EXPECT_EQ(next.at, now + seconds(200));
  EXPECT_EQ(running.PaceOf("n1", "0", now)->throughput, 0.5);
  EXPECT_EQ(running.PaceOf("n1", "0", now)->cold_most, 0.5);
  now = next.at;
  ASSERT_TRUE(running.Holds(next));
  running.EndFirstEpoch(0, now);
  EXPECT_FALSE(running.Holds(next));
  EXPECT_EQ(running.PaceOf("n1", "0", now)->throughput, 3);
  EXPECT_EQ(running.PaceOf("n1", "0", now)->cold_most, std::nullopt);
  next = Next();
  EXPECT_FALSE(next.first_epoch);
  EXPECT_NEAR(Seconds(next.at - now).count(), 400.0 / 3, 0.001);
}

TEST_F(ColdEpochTest, OthersUseTheCpuThatItHasNoUseForMeanwhile) {
  running.SetNode("n1", Cores(4));
  Start(0, true);
  Start(1, false);
  EXPECT_EQ(running.PaceOf("n1", "0", now)->cpu, MilliCpu(500));
  EXPECT_EQ(running.PaceOf("n1", "1", now)->cpu, Cores(3));
  running.EndFirstEpoch(0, now + seconds(200));
  EXPECT_EQ(running.PaceOf("n1", "0", now + seconds(200))->cpu, Cores(2));
  EXPECT_EQ(running.PaceOf("n1", "1", now + seconds(200))->cpu, Cores(2));
}

TEST_F(ColdEpochTest, AProbeInItEndsItLater) {
  running.SetNode("n1", Cores(4));
  Start(0, true);
  Next();
  running.SetQuota("n1", "0", CpuProbe{MilliCpu(250)}, now + seconds(100));
  const JobProgress::Finish next = Next();
  EXPECT_TRUE(next.first_epoch);
  EXPECT_EQ(next.at, now + seconds(100 + 200));
}

TEST(ColdEpochsTest, TheProductsJobsTakeAnEpochFromStorageLonger) {
  const auto truth = ProfileOf({{Cores(2), GB(22), 0.1}, {Cores(2), GB(125), 2}});
  ModelProfiles profiles;
  profiles.Set("image", truth);
  const SimulatedData data = DataOf(*truth);
  ASSERT_GT(data.data_set, Bytes(0));
  const auto run_of = [&](bool cold) {
    ProductOptions options;
    options.restart_cost = Duration::zero();
    options.cold_epochs = cold;
    const std::vector<ProductJob> jobs = {{1, "image", Gpus(1), Seconds(0), Seconds(200'000), 1}};
    const auto run = SimulateProduct(ClusterOf(1, {Gpus(1), Cores(2), GB(150)}), jobs, profiles,
                                     options, {}, nullptr);
    EXPECT_TRUE(run) << run.error().message;
    return run->jobs[0].finish.count();
  };
  const double epoch = data.Epoch();
  EXPECT_NEAR(run_of(true) - run_of(false), epoch / data.uncached - epoch / 2, 1);
}

}  // namespace
}  // namespace synergy::testing
