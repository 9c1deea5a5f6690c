#include "extender/gauges.h"

#include <gtest/gtest.h>

namespace synergy::extender {
namespace {

using std::chrono::seconds;

Instant At(int second) { return Instant(seconds(second)); }

TEST(PlaceAgesTest, CountFromTheFirstLook) {
  PlaceAges ages;
  EXPECT_EQ(ages.Of(At(1)).places, 0U);
  ages.Look({"a"}, At(10));
  ages.Look({"a", "b"}, At(20));
  EXPECT_EQ(ages.Of(At(25)).places, 2U);
  EXPECT_EQ(ages.Of(At(25)).oldest, seconds(15));
  // The age of a place that was given up starts at zero again.
  ages.Look({"b"}, At(30));
  ages.Look({"a", "b"}, At(40));
  EXPECT_EQ(ages.Of(At(40)).oldest, seconds(20));
  ages.Look({"a"}, At(43));
  EXPECT_EQ(ages.Of(At(43)).oldest, seconds(3));
}

}  // namespace
}  // namespace synergy::extender
