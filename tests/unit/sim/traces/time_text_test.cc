#include "sim/traces/time_text.h"

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

TEST(TimeTextTest, FormsOfOneMomentAreTheSameTime) {
  for (const char* text :
       {"1714557600", "1714557600.0", "1714557600000", "1714557600000000", "2024-05-01T10:00:00Z",
        "2024-05-01T10:00:00", "2024-05-01 10:00:00", "2024-05-01t10:00:00.000z",
        "2024/05/01 10:00", "2024-05-01T12:00:00+02:00", "2024-05-01 18:00:00+08:00",
        "2024-05-01T18:00:00+0800", "2024-05-01T04:30:00-05:30", "2024-05-01 12:00:00+02",
        "2024-05-01 10:00:00 UTC"}) {
    const auto time = ReadTimeText(text);
    ASSERT_TRUE(time) << text;
    EXPECT_DOUBLE_EQ(time->count(), 1714557600) << text;
  }
}

TEST(TimeTextTest, OtherTextIsNoTime) {
  for (const char* text :
       {"", "x", "1x", "nan", "inf", "1e300", "2024-13-01T10:00:00", "2024-02-30",
        "2024-05-01T25:00:00", "2024-05-01T10:61:00", "2024-05-01T10:00:00+8",
        "2024-05-01T10:00:00+08:00x", "05/01/2024 10:00", "2024-05-01T10"}) {
    EXPECT_FALSE(ReadTimeText(text)) << text;
  }
}

TEST(TimeTextTest, DurationsAreSecondsOrSlurms) {
  const std::pair<const char*, double> durations[] = {{"90", 90},
                                                      {"90.5", 90.5},
                                                      {"-3", -3},
                                                      {"01:30", 90},
                                                      {"01:30.500", 90.5},
                                                      {"1:00:00", 3600},
                                                      {"2-01:00:00", 176400},
                                                      {"0", 0},
                                                      {"100:00:00", 360000},
                                                      {"-00:01:00", -60}};
  for (const auto& [text, length] : durations) {
    const auto duration = ReadDurationText(text);
    ASSERT_TRUE(duration) << text;
    EXPECT_DOUBLE_EQ(duration->count(), length) << text;
  }
  for (const char* text : {"", "x", "1:", ":1", "1:2:3:4", "1-", "-", "1-2", "1d", "1e300", "--1",
                           "1-25:00:00", "1-23:61:00", "1:60:00", "00:99"})
    EXPECT_FALSE(ReadDurationText(text)) << text;
}

}  // namespace
}  // namespace synergy::testing
