#include "core/wall_time.h"

#include <string_view>

#include <gtest/gtest.h>

namespace synergy {
namespace {

using std::chrono::seconds;

TEST(TimeText, IsReadBackAsItWas) {
  const WallTime time = WallTime(seconds(1'795'000'000)) + std::chrono::microseconds(250);
  EXPECT_EQ(ToTimeText(time), "2026-11-18T11:06:40.000250Z");
  EXPECT_EQ(ParseTime(ToTimeText(time)), time);
}

TEST(TimeText, TakesSecondsFractionsAndOffsets) {
  const WallTime time(seconds(1'795'000'000));
  EXPECT_EQ(ParseTime("2026-11-18T11:06:40Z"), time);
  EXPECT_EQ(ParseTime("2026-11-18T13:06:40.5+02:00"), time + std::chrono::milliseconds(500));
  EXPECT_EQ(ParseTime("2026-11-18T10:36:40-00:30"), time);
}

TEST(TimeText, RefusesWhatIsNoTime) {
  for (const std::string_view text :
       {"", "2026-11-18", "2026-11-18T10:06:40", "2026-02-30T00:00:00Z", "2026-11-18T24:00:00Z",
        "2026-11-18T10:06:40.Z", "2026-11-18T10:06:40Zx", "+026-11-18T10:06:40Z",
        "2026-11-18T-1:06:40Z", "2026-11-18T10:-0:40Z", "0001-01-01T00:00:00Z",
        "9999-12-31T00:00:00Z", "2026-11-18 10:06:40Z"}) {
    EXPECT_FALSE(ParseTime(text)) << text;
  }
}

}  // namespace
}  // namespace synergy
