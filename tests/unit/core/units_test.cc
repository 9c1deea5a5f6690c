#include "core/units.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();

TEST(UnitsTest, NamedAmountsCountInTheirTypesUnit) {
  EXPECT_EQ(Cores(3).count(), 3000);
  EXPECT_EQ(MiB(1).count(), 1048576);
  EXPECT_EQ(GiB(2).count(), int64_t{2} * 1024 * 1024 * 1024);
  EXPECT_EQ(GB(2).count(), 2'000'000'000);
}

TEST(UnitsTest, AQuantityStartsAtZero) { EXPECT_EQ(Bytes().count(), 0); }

TEST(UnitsTest, LikeQuantitiesAddSubtractScaleAndCompare) {
  MilliCpu cpu = Cores(1) + MilliCpu(500);
  cpu -= MilliCpu(250);
  EXPECT_EQ(cpu, MilliCpu(1250));
  EXPECT_EQ(cpu * 2, MilliCpu(2500));
  EXPECT_EQ(2 * cpu, cpu + cpu);
  EXPECT_LT(MilliCpu(-1), MilliCpu(0));
  EXPECT_GE(Gpus(8), Gpus(8));
}

TEST(UnitsTest, ArithmeticWrapsAroundAsGosDoes) {
  EXPECT_EQ(Bytes(kLargest) + Bytes(1), Bytes(kSmallest));
  EXPECT_EQ(Bytes(kSmallest) - Bytes(1), Bytes(kLargest));
  EXPECT_EQ(Bytes(kLargest) * 2, Bytes(-2));
  EXPECT_EQ(Bytes(kSmallest) * -1, Bytes(kSmallest));
}

TEST(UnitsTest, TakingAwayWhatWasAddedRestoresTheSumHoweverAbsurd) {
  Bytes sum = GiB(5);
  sum += Bytes(kLargest);
  sum += Bytes(kLargest - 7);
  sum -= Bytes(kLargest);
  sum -= Bytes(kLargest - 7);
  EXPECT_EQ(sum, GiB(5));
}

static_assert(Cores(2) + Cores(1) == Cores(3), "quantities are usable at compile time");

}  // namespace
}  // namespace synergy::testing
