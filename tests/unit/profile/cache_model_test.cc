#include "profile/cache_model.h"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A data set of 100 GB in samples of 100 kB; storage delivers 5000 samples per second.
const CacheModel kModel{GB(100), Bytes(500'000'000), Bytes(100'000)};

TEST(CacheModelTest, StorageLimitsWhatTheCacheMisses) {
  EXPECT_DOUBLE_EQ(StorageLimit(kModel, GB(0)), 5000);
  EXPECT_DOUBLE_EQ(StorageLimit(kModel, GB(50)), 10'000);
  EXPECT_DOUBLE_EQ(StorageLimit(kModel, GB(90)), 50'000);
  EXPECT_DOUBLE_EQ(StorageLimit(kModel, GB(-1)), 5000);
}

TEST(CacheModelTest, StorageIsNoLimitOnceTheDataSetIsInMemory) {
  EXPECT_EQ(StorageLimit(kModel, GB(100)), std::numeric_limits<double>::infinity());
  EXPECT_EQ(StorageLimit(kModel, GB(200)), std::numeric_limits<double>::infinity());
}

TEST(CacheModelTest, EnoughMemoryIsWhereStorageKeepsUp) {
  EXPECT_EQ(EnoughMemory(kModel, 10'000), GB(50));
  EXPECT_EQ(EnoughMemory(kModel, 20'000), GB(75));
  for (const double throughput : {5001.0, 7777.7, 1234567.8}) {
    const Bytes enough = EnoughMemory(kModel, throughput);
    EXPECT_GE(StorageLimit(kModel, enough), throughput);
    EXPECT_LT(StorageLimit(kModel, enough - Bytes(2)), throughput);
  }
}

// Tests any amounts: the search takes as many steps as an amount has bits.
TEST(CacheModelTest, EnoughMemoryIsTheLeastOfAnyDataSet) {
  for (const int64_t data_set :
       {int64_t{1}, int64_t{3}, int64_t{1} << 50, (int64_t{1} << 50) - 1}) {
    const CacheModel model{Bytes(data_set), Bytes(1), Bytes(1)};
    for (const double throughput : {1.0000000000000002, 1.5, 3e7, 1e15, 1e18}) {
      const Bytes enough = EnoughMemory(model, throughput);
      EXPECT_GE(StorageLimit(model, enough), throughput) << data_set;
      if (enough > Bytes(1)) {
        EXPECT_LT(StorageLimit(model, enough - Bytes(1)), throughput);
      }
    }
  }
}

TEST(CacheModelTest, AJobThatStorageKeepsUpWithNeedsNoCache) {
  EXPECT_EQ(EnoughMemory(kModel, 5000), Bytes(1));
  EXPECT_EQ(EnoughMemory(kModel, 0), Bytes(1));
}

TEST(CacheModelTest, AGridHasTheDataSetItsHalvesAndWhatIsEnoughForEachPoint) {
  EXPECT_THAT(MemoryGrid(kModel, std::vector<CpuPoint>{{Cores(1), 4000}, {Cores(2), 8000}}),
              ElementsAre(Bytes(6'250'000'000), Bytes(12'500'000'000), GB(25),
                          Bytes(37'500'000'000), GB(50), GB(100)));
  // Half a byte is not rounded to zero.
  EXPECT_THAT(MemoryGrid({Bytes(1), Bytes(1), Bytes(1)}, {}), ElementsAre(Bytes(1)));
}

TEST(CalculatedProfileTest, IsTheLesserOfCpuAndStorage) {
  const std::vector<CpuPoint> points = {{Cores(1), 4000}, {Cores(2), 8000}, {Cores(3), 12'000}};
  const std::vector<Bytes> memories = {GB(10), GB(50), GB(100)};
  const Result<JobProfile> profile = CalculateProfile(Gpus(2), points, kModel, memories);
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->gpus(), Gpus(2));
  EXPECT_THAT(profile->memories(), ElementsAre(GB(10), GB(50), GB(100)));
  EXPECT_DOUBLE_EQ(profile->Cell(0, 0), 4000);
  EXPECT_DOUBLE_EQ(profile->Cell(1, 0), 5000 / 0.9);
  EXPECT_DOUBLE_EQ(profile->Cell(1, 1), 8000);
  EXPECT_DOUBLE_EQ(profile->Cell(2, 1), 10'000);
  EXPECT_DOUBLE_EQ(profile->Cell(2, 2), 12'000);
}

TEST(CalculatedProfileTest, WithoutMemoryAmountsTheDemandIsExactlyEnough) {
  const std::vector<CpuPoint> points = {
      {Cores(1), 7000}, {Cores(4), 13'337.5}, {Cores(9), 13'337.5}};
  const Result<JobProfile> profile = CalculateProfile(Gpus(1), points, kModel, {});
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->Demand(0),
            (ResourceVector{Gpus(1), Cores(4), EnoughMemory(kModel, 13'337.5)}));
}

TEST(CalculatedProfileTest, BetweenItsCellsTheProfileFollowsTheModel) {
  const std::vector<CpuPoint> points = {{Cores(8), 20'000}};
  const Result<JobProfile> profile = CalculateProfile(Gpus(1), points, kModel, {});
  ASSERT_TRUE(profile.has_value());
  for (int gigabytes = 7; gigabytes < 75; ++gigabytes) {
    EXPECT_NEAR(profile->ThroughputAt(Cores(8), GB(gigabytes)), StorageLimit(kModel, GB(gigabytes)),
                1e-6)
        << gigabytes;
  }
  EXPECT_EQ(profile->ThroughputAt(Cores(8), GB(80)), 20'000);
}

TEST(CalculatedProfileTest, RefusesInvalidInput) {
  const std::vector<CpuPoint> points = {{Cores(1), 7000}};
  const auto error = [](const std::vector<CpuPoint>& measured, const CacheModel& model) {
    const Result<JobProfile> profile = CalculateProfile(Gpus(1), measured, model, {});
    return profile ? "no error" : profile.error().message;
  };
  EXPECT_EQ(error(points, {GB(0), GB(1), Bytes(1)}), "the data set has no size");
  EXPECT_EQ(error(points, {GB(1), GB(-1), Bytes(1)}), "the storage has no bandwidth");
  EXPECT_EQ(error(points, {GB(1), GB(1), Bytes(0)}), "a sample has no bytes");
  EXPECT_EQ(error({{Cores(1), -1}}, kModel), "1 CPU: throughput -1 is negative or not a number");
  // Storage would hide this error.
  EXPECT_THAT(error({{Cores(1), std::numeric_limits<double>::infinity()}}, kModel),
              HasSubstr("throughput inf"));
  EXPECT_EQ(error({}, kModel), "there are no points");
  EXPECT_THAT(error({{Cores(1), 1}, {Cores(1), 1}}, kModel), HasSubstr("occurs twice"));
}

}  // namespace
}  // namespace synergy::testing
