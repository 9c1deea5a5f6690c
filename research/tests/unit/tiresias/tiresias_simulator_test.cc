#include "research/tiresias/tiresias_simulator.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "research/tiresias/tiresias_gpus.h"

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSchedules[] = {
    "dlas-gpu", "dlas-gpu-1", "dlas-gpu-gittins", "fifo", "shortest", "shortest-gpu", "sjf"};

TiresiasOptions Options(const std::string& cluster, const std::string& schedule,
                        TiresiasScheme scheme = TiresiasScheme::kCount) {
  return {.cluster = *ParseTiresiasCluster(cluster),
          .schedule = *ParseTiresiasSchedule(schedule),
          .scheme = scheme,
          .queue_limits = {100, 300},
          .sizes = {50, 120, 400, 900}};
}

TiresiasJob MakeTiresiasJob(int64_t id, int64_t gpus, int64_t submitted, int64_t duration) {
  return {.id = id, .gpus = gpus, .submitted = submitted, .duration = duration, .model = {}};
}

std::vector<JobTimes> Simulated(const std::vector<TiresiasJob>& jobs,
                                const TiresiasOptions& options) {
  return SimulateTiresias(jobs, options).value();
}

TEST(TiresiasSimulatorTest, ANewJobGoesBeforeOneThatWasServedToItsLimit) {
  // The first job has had its 100 GPU-seconds at 50 s. The second takes its place, and ends.
  const auto times = Simulated({MakeTiresiasJob(0, 2, 0, 200), MakeTiresiasJob(1, 2, 10, 40)},
                               Options("n1g2", "dlas-gpu"));
  EXPECT_EQ(times[1].started, Seconds(50));
  EXPECT_EQ(times[1].finished, Seconds(90));
  EXPECT_EQ(times[0].finished, Seconds(240));
}

TEST(TiresiasSimulatorTest, FifoStopsAtTheFirstThatDoesNotFit) {
  const auto times = Simulated(
      {MakeTiresiasJob(0, 1, 0, 100), MakeTiresiasJob(1, 2, 1, 10), MakeTiresiasJob(2, 1, 2, 10)},
      Options("n1g2", "fifo"));
  EXPECT_EQ(times[1].started, Seconds(100));
  EXPECT_EQ(times[2].started, Seconds(110));
}

TEST(TiresiasSimulatorTest, AJobThatNeverFitsIsAnError) {
  const auto counted =
      SimulateTiresias(std::vector{MakeTiresiasJob(7, 9, 0, 1)}, Options("n2g4", "dlas-gpu"));
  ASSERT_FALSE(counted);
  EXPECT_THAT(counted.error().message, HasSubstr("job 7 asks for 9 GPUs"));
}

TEST(TiresiasGpusTest, YarnTakesWholeNodesAndOneForTheRest) {
  TiresiasGpus gpus({.nodes = 3, .gpus = 4}, TiresiasScheme::kYarn);
  EXPECT_EQ(gpus.Take(1), (TiresiasGpus::Taken{{0, 1}}));
  EXPECT_EQ(gpus.Take(6), (TiresiasGpus::Taken{{1, 4}, {0, 2}}));
  EXPECT_TRUE(gpus.Take(8).empty());
  EXPECT_EQ(gpus.Take(4), (TiresiasGpus::Taken{{2, 4}}));
  EXPECT_TRUE(gpus.Take(2).empty());
  EXPECT_TRUE(gpus.CouldHold(12));
  EXPECT_FALSE(gpus.CouldHold(13));
}

std::vector<TiresiasJob> RandomJobs(uint64_t seed) {
  Random random(seed);
  std::vector<TiresiasJob> jobs;
  int64_t submitted = 0;
  for (int64_t id = 0; id < 60; ++id) {
    submitted += static_cast<int64_t>(random.Below(40));
    jobs.push_back(MakeTiresiasJob(id, 1 + static_cast<int64_t>(random.Below(8)), submitted,
                                   1 + static_cast<int64_t>(random.Below(300))));
  }
  return jobs;
}

double GpuSeconds(const std::vector<TiresiasJob>& jobs) {
  double sum = 0;
  for (const TiresiasJob& job : jobs) sum += static_cast<double>(job.gpus * job.duration);
  return sum;
}

TEST(TiresiasSimulatorPropertyTest, EveryJobGetsItsTimeAndTheClusterGivesNoMoreThanItHas) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const std::vector<TiresiasJob> jobs = RandomJobs(seed);
    for (const char* schedule : kSchedules) {
      for (const TiresiasScheme scheme : {TiresiasScheme::kCount, TiresiasScheme::kYarn}) {
        const auto times = Simulated(jobs, Options("n2g4", schedule, scheme));
        Seconds end{};
        for (size_t at = 0; at < jobs.size(); ++at) {
          ASSERT_TRUE(times[at].started && times[at].finished) << schedule;
          EXPECT_GE(*times[at].started, times[at].submitted);
          EXPECT_GE(*times[at].finished - *times[at].started,
                    Seconds(static_cast<double>(jobs[at].duration)));
          end = std::max(end, *times[at].finished);
        }
        EXPECT_GE(8 * end.count(), GpuSeconds(jobs)) << schedule;
      }
    }
  }
}

TEST(TiresiasSimulatorPropertyTest, JobsOfOneGpuLeaveNoneIdleWhileAnyWaits) {
  // All jobs arrive at the same time, so at the end no GPU is idle for longer than the longest job
  // takes.
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<TiresiasJob> jobs = RandomJobs(seed);
    for (TiresiasJob& job : jobs) job.gpus = 1, job.submitted = 0;
    for (const char* schedule : kSchedules) {
      Seconds end{};
      for (const JobTimes& job : Simulated(jobs, Options("n2g4", schedule))) {
        end = std::max(end, *job.finished);
      }
      EXPECT_LE(end.count(), GpuSeconds(jobs) / 8 + 300) << schedule;
    }
  }
}

}  // namespace
}  // namespace synergy::testing
