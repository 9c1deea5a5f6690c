#include "core/rounding.h"

#include <chrono>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace synergy {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(RoundingTest, RoundsNumbersThatFit) {
  EXPECT_EQ(ToWhole(2.9), 2);
  EXPECT_EQ(ToWhole(-2.9), -2);
  EXPECT_EQ(ToNearest(2.5), 3);
  EXPECT_EQ(ToNearest(-2.4), -2);
  EXPECT_EQ(ToWhole(9223372036854774784.0), 9223372036854774784);
  EXPECT_EQ(ToWhole(-9223372036854775808.0), kLeast);
}

TEST(RoundingTest, SaturatesNumbersThatDoNotFit) {
  for (const double beyond : {9223372036854775808.0, 1e300, kInfinity}) {
    EXPECT_EQ(ToWhole(beyond), kMost);
    EXPECT_EQ(ToNearest(beyond), kMost);
    EXPECT_EQ(ToNearest(-beyond), kLeast);
  }
  EXPECT_EQ(ToNearest(std::numeric_limits<double>::quiet_NaN()), 0);
}

TEST(RoundingTest, TimesCanStillBeAddedUp) {
  EXPECT_EQ(ToDuration(Seconds(1.5)), std::chrono::milliseconds(1500));
  EXPECT_EQ(ToDuration(Seconds(-1.5)), std::chrono::milliseconds(-1500));
  const WallTime today{std::chrono::hours(24 * 365 * 57)};
  EXPECT_GT(today + ToDuration(Seconds(kInfinity)), today);
  EXPECT_LT(today + ToDuration(Seconds(-kInfinity)), today);
  EXPECT_EQ(ToDuration(Seconds(std::numeric_limits<double>::quiet_NaN())), Duration::zero());
}

}  // namespace
}  // namespace synergy
