#include "research/gavel/gavel_workload.h"

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::HasSubstr;

std::vector<GavelTraceJob> MadeGavelJobs(const std::string& options) {
  return GenerateGavelWorkload(ParseWorkloadOptions(options).value(), GavelThroughputs::Published(),
                               "v100")
      .value();
}

TEST(GavelWorkloadTest, ArrivalsDurationsAndModelsAreTheAuthors) {
  const std::vector<GavelTraceJob> jobs = MadeGavelJobs("rate=5.6/h,jobs=20000,seed=1");
  const GavelThroughputs throughputs = GavelThroughputs::Published();
  EXPECT_NEAR(jobs.back().submitted.count() / 20000, 3600 / 5.6, 0.03 * 3600 / 5.6);
  std::map<std::string, int> models;
  int longer = 0;
  for (const GavelTraceJob& job : jobs) {
    ++models[job.model];
    EXPECT_EQ(job.gpus, 1);
    const double rate = throughputs.Of(job.model, 1, {"v100"})->front();
    const double duration = static_cast<double>(job.steps) / rate;
    EXPECT_LE(duration, 60 * 1e4);
    EXPECT_GE(duration, 60 * 31 - 1 / rate);
    longer += duration > 60 * 1e3 ? 1 : 0;
  }
  EXPECT_NEAR(longer / 20000.0, 0.2, 0.01);
  EXPECT_EQ(models.size(), 26U);
  for (const auto& [model, count] : models) EXPECT_NEAR(count, 20000 / 26.0, 120) << model;
}

TEST(GavelWorkloadTest, LargeJobsAreOfModelsThatRunOnAsManyGpus) {
  const GavelThroughputs throughputs = GavelThroughputs::Published();
  std::set<int64_t> sizes;
  for (const GavelTraceJob& job : MadeGavelJobs("gpus=philly,jobs=500,seed=1")) {
    sizes.insert(job.gpus);
    EXPECT_TRUE(throughputs.Of(job.model, job.gpus, {"v100"})) << job.model;
  }
  EXPECT_EQ(sizes, (std::set<int64_t>{1, 2, 4, 8}));
}

TEST(GavelWorkloadTest, TheSameSeedGivesTheSameJobs) {
  EXPECT_EQ(ToGavelTrace(MadeGavelJobs("jobs=50,seed=3")),
            ToGavelTrace(MadeGavelJobs("jobs=50,seed=3")));
  EXPECT_NE(ToGavelTrace(MadeGavelJobs("jobs=50,seed=3")),
            ToGavelTrace(MadeGavelJobs("jobs=50,seed=4")));
}

TEST(GavelWorkloadTest, ASizeThatNoModelRunsOnIsRefused) {
  const auto made = GenerateGavelWorkload(ParseWorkloadOptions("gpus=3").value(),
                                          GavelThroughputs::Published(), "v100");
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("no known model runs on 3 GPUs of v100"));
}

}  // namespace
}  // namespace synergy::testing
