#include "profile/data_reads.h"

#include <cmath>

#include <gtest/gtest.h>

#include "profile/cache_model.h"

namespace synergy {
namespace {

const DataReads kReads{.process = GB(4), .data_set = GB(100), .per_iteration = 1e6};

TEST(DataReadsTest, EveryEpochMissesThePartThatIsNotInTheCache) {
  EXPECT_EQ(kReads.Missed(GB(2)), 1) << "the processes need more";
  EXPECT_EQ(kReads.Missed(GB(4)), 1);
  EXPECT_EQ(kReads.Missed(GB(29)), 0.75);
  EXPECT_EQ(kReads.Missed(kReads.Enough()), 0);
  EXPECT_EQ(kReads.Missed(GB(500)), 0);
  EXPECT_EQ(DataReads{}.Missed(GB(0)), 0) << "it has no data";
}

TEST(DataReadsTest, TheNeedIsTheMissedPartOfWhatTheRateReads) {
  EXPECT_EQ(kReads.NeedAt(20, GB(29)), 15e6);
  const auto profile =
      JobProfile::Create(Gpus(1), {{Cores(1), GB(29), 10}, {Cores(2), GB(29), 20}});
  EXPECT_EQ(kReads.NeedOf(*profile, {Gpus(1), Cores(2), GB(29)}), 15e6);
  EXPECT_EQ(kReads.NeedOf(*profile, {Gpus(1), Cores(2), GB(104)}), 0);
}

TEST(DataReadsTest, ABandwidthAllowsTheRateWhoseNeedItIs) {
  EXPECT_DOUBLE_EQ(kReads.RateWith(15e6, GB(29)), 20);
  EXPECT_TRUE(std::isinf(kReads.RateWith(1, GB(104))));
  EXPECT_EQ(kReads.RateWith(0, GB(29)), 0);
}

TEST(DataReadsTest, ACalculatedProfileReadsAsFastAsItsStorageDelivers) {
  const CacheModel model{GB(100), Bytes(500'000'000), Bytes(1'000'000)};
  const auto profile =
      CalculateProfile(Gpus(1), std::vector{CpuPoint{Cores(1), 1e4}}, model, {}, kReads.process);
  EXPECT_NEAR(kReads.NeedOf(*profile, {Gpus(1), Cores(1), GB(54)}), 5e8, 1);
}

}  // namespace
}  // namespace synergy
