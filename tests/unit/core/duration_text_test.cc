#include "core/text/duration_text.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace synergy {
namespace {

TEST(DurationTextTest, GoDurationsHaveUnits) {
  using std::chrono::milliseconds;
  EXPECT_EQ(*ParseGoDuration("0s"), Duration::zero());
  EXPECT_EQ(*ParseGoDuration("1m30s"), milliseconds(90'000));
  EXPECT_EQ(*ParseGoDuration("1h0.5s"), milliseconds(3'600'500));
  EXPECT_EQ(*ParseGoDuration("1.5h"), milliseconds(5'400'000));
  EXPECT_EQ(*ParseGoDuration("500ms"), milliseconds(500));
  EXPECT_EQ(*ParseGoDuration("1500us"), std::chrono::microseconds(1500));
}

TEST(DurationTextTest, OthersAreRejectedWithTheCure) {
  for (const char* text : {"", "90", "-1s", "1d", "s", "1m30", "1.5", "1m s", "1m-1s", "infs",
                           "nans", "1e400s", "9223372037s"}) {
    const auto duration = ParseGoDuration(text);
    ASSERT_FALSE(duration) << text;
    EXPECT_EQ(duration.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(duration.error().message,
              "\"" + std::string(text) + "\" is not a duration: write it as 5s, 1m30s or 500ms");
  }
}

}  // namespace
}  // namespace synergy
