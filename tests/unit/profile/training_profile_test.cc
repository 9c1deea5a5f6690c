#include "profile/training_profile.h"

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

TEST(TrainingProfileTest, MeasuredPointsBecomeAProfile) {
  const TrainingProfile training{
      .model = "m", .gpus = Gpus(2), .points = {{Cores(6), GiB(10), 3}, {Cores(3), GiB(10), 2}}};
  const Result<JobProfile> profile = MakeJobProfile(training);
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->Demand(0), (ResourceVector{Gpus(2), Cores(6), GiB(10)}));
}

TEST(TrainingProfileTest, PointsWithEverythingInMemoryAreCompletedByTheCacheModel) {
  const TrainingProfile training{
      .model = "m",
      .cached = CachedMeasurements{{GB(100), Bytes(500'000'000), Bytes(100'000)},
                                   {{Cores(3), 10'000}},
                                   {GB(10), GB(50), GB(90)}}};
  const Result<JobProfile> profile = MakeJobProfile(training);
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->Demand(0), (ResourceVector{Gpus(1), Cores(3), GB(50)}));
}

TEST(TrainingProfileTest, TheProcessMemoryIsPartOfWhatWasMeasured) {
  TrainingProfile training{
      .model = "m", .process_memory = GiB(4), .points = {{Cores(6), GiB(10), 3}}};
  const Result<JobProfile> profile = MakeJobProfile(training);
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->process_memory(), GiB(4));
  EXPECT_EQ(profile->Demand(0).memory, GiB(10));
  EXPECT_EQ(Scaled(*profile, Gpus(3))->process_memory(), GiB(12));
  training.process_memory = GiB(11);
  EXPECT_EQ(MakeJobProfile(training).error().message,
            "the process memory is more than any point's memory");
  training.process_memory.reset();
  EXPECT_EQ(MakeJobProfile(training)->process_memory(), std::nullopt);
}

TEST(TrainingProfileTest, TheProcessMemoryComesOnTopOfACalculatedCache) {
  const TrainingProfile training{
      .model = "m",
      .process_memory = GB(6),
      .cached = CachedMeasurements{{GB(100), Bytes(500'000'000), Bytes(100'000)},
                                   {{Cores(3), 10'000}},
                                   {GB(10), GB(50), GB(90)}}};
  const Result<JobProfile> profile = MakeJobProfile(training);
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->Demand(0), (ResourceVector{Gpus(1), Cores(3), GB(56)}));
}

TEST(TrainingProfileTest, TheTwoKindsOfPointsExcludeEachOther) {
  const TrainingProfile training{.model = "m",
                                 .points = {{Cores(6), GiB(10), 3}},
                                 .cached = CachedMeasurements{{GB(1), GB(1), Bytes(1)}, {}, {}}};
  EXPECT_EQ(MakeJobProfile(training).error().message,
            "points either all have memory, or all are measured with everything in memory");
}

TEST(TrainingProfileTest, WithoutPointsThereIsNoProfile) {
  EXPECT_EQ(MakeJobProfile(TrainingProfile{.model = "m"}).error().message, "there are no points");
}

}  // namespace
}  // namespace synergy::testing
