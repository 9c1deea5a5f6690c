#include "sim/cluster/simulated_data.h"

#include <gtest/gtest.h>

#include "profile/cache_model.h"

namespace synergy {
namespace {

JobProfile Profile(std::vector<JobProfile::Point> points) {
  return *JobProfile::Create(Gpus(1), std::move(points));
}

TEST(SimulatedDataTest, StorageAllowsTheThroughputOfTheProfile) {
  const JobProfile truth = Profile({{Cores(12), GB(22), 0.1},
                                    {Cores(12), GB(62), 2},
                                    {Cores(12), GB(125), 2.94},
                                    {Cores(12), GB(250), 2.94}});
  const SimulatedData data = DataOf(truth);
  EXPECT_EQ(data.process, GB(20));
  const CacheModel model{data.data_set, Bytes(500'000'000),
                         Bytes(static_cast<int64_t>(data.per_iteration))};
  EXPECT_NEAR(StorageLimit(model, GB(62 - 20)), 2, 0.001);
  EXPECT_NEAR(StorageLimit(model, GB(125 - 20)), 2.94, 0.001);
}

TEST(SimulatedDataTest, JobInsensitiveToMemoryHasNoData) {
  const SimulatedData data = DataOf(Profile({{Cores(1), GB(22), 1}, {Cores(1), GB(250), 1}}));
  EXPECT_EQ(data.process, GB(20));
  EXPECT_EQ(data.data_set, Bytes(0));
}

}  // namespace
}  // namespace synergy
