#include "core/random.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();

// The answers come from an independent implementation, which was checked against the published
// vectors of both parts: splitmix64 from 1234567 gives 6457827717110365317, and xoshiro256** from
// {1, 2, 3, 4} gives 11520, 0, 1509978240.
struct KnownAnswer {
  uint64_t seed;
  std::array<uint64_t, 4> values;
};
constexpr KnownAnswer kKnownAnswers[] = {
    {0, {11091344671253066420U, 13793997310169335082U, 1900383378846508768U, 7684712102626143532U}},
    {1, {12966619160104079557U, 9600361134598540522U, 10590380919521690900U, 7218738570589545383U}},
    {42,
     {1546998764402558742U, 6990951692964543102U, 12544586762248559009U, 17057574109182124193U}},
    {kMost,
     {10328197420357168392U, 14156678507024973869U, 9357971779955476126U, 13791585006304312367U}},
};

TEST(RandomTest, GivesTheKnownNumbersForASeed) {
  for (const KnownAnswer& known : kKnownAnswers) {
    Random random(known.seed);
    for (const uint64_t value : known.values)
      EXPECT_EQ(random.Next(), value) << "seed " << known.seed;
  }
}

TEST(RandomTest, BelowStaysUnderItsBound) {
  Random random(7);
  for (const uint64_t bound :
       {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{1000}, kMost / 2 + 2, kMost}) {
    for (int i = 0; i < 1000; ++i) ASSERT_LT(random.Below(bound), bound);
  }
}

TEST(RandomTest, BelowGivesEveryValueEquallyOften) {
  constexpr int kDraws = 60000;
  Random random(11);
  std::array<int, 6> counts{};
  for (int i = 0; i < kDraws; ++i) ++counts[random.Below(counts.size())];
  // The tolerance is six standard deviations of a binomial count. The seed is fixed, so the result
  // never varies.
  for (const int count : counts) EXPECT_NEAR(count, 10000, 550);
}

TEST(RandomTest, BelowHasNoBiasWhereTheBoundIsLarge) {
  // With a plain remainder, numbers in the lower half of this range would be twice as frequent as
  // those in the upper half.
  constexpr uint64_t kBound = kMost / 4 * 3;
  constexpr int kDraws = 30000;
  Random random(13);
  int low = 0;
  for (int i = 0; i < kDraws; ++i) low += random.Below(kBound) < kBound / 3 ? 1 : 0;
  EXPECT_NEAR(low, 10000, 500);
}

TEST(RandomTest, UniformFillsTheHalfOpenUnitInterval) {
  Random random(17);
  double sum = 0;
  double least = 1;
  double most = 0;
  for (int i = 0; i < 10000; ++i) {
    const double value = random.Uniform();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
  EXPECT_LT(least, 0.01);
  EXPECT_GT(most, 0.99);
}

TEST(RandomDeathTest, AnEmptyRangeIsABrokenInvariant) {
  EXPECT_DEATH(Random(1).Below(0), "an empty range has no values");
}

}  // namespace
}  // namespace synergy::testing
