#include "extender/gauges.h"

#include <gtest/gtest.h>

namespace synergy::extender {
namespace {

using std::chrono::seconds;
using Kind = HeldPlace::Kind;

Instant At(int second) { return Instant(seconds(second)); }

TEST(PlaceAgesTest, CountFromTheFirstLook) {
  PlaceAges ages;
  EXPECT_EQ(ages.Of(Kind::kAssumed, At(1)).places, 0U);
  ages.Look({{"a", Kind::kAssumed}, {"k", Kind::kKept}}, At(10));
  ages.Look({{"a", Kind::kAssumed}, {"b", Kind::kAssumed}}, At(20));
  EXPECT_EQ(ages.Of(Kind::kAssumed, At(25)).places, 2U);
  EXPECT_EQ(ages.Of(Kind::kAssumed, At(25)).oldest, seconds(15));
  EXPECT_EQ(ages.Of(Kind::kKept, At(25)).places, 0U);
  // What was let go of starts anew.
  ages.Look({{"b", Kind::kAssumed}}, At(30));
  ages.Look({{"a", Kind::kKept}, {"b", Kind::kAssumed}}, At(40));
  EXPECT_EQ(ages.Of(Kind::kAssumed, At(40)).oldest, seconds(20));
  EXPECT_EQ(ages.Of(Kind::kKept, At(43)).oldest, seconds(3));
}

}  // namespace
}  // namespace synergy::extender
