#include "cli/text/amounts.h"

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace synergy::cli::testing {
namespace {

TEST(AmountsTest, DurationsHaveAUnit) {
  EXPECT_EQ(*ParseDuration("300s"), Seconds(300));
  EXPECT_EQ(*ParseDuration("5m"), Seconds(300));
  EXPECT_EQ(*ParseDuration("1.5h"), Seconds(5400));
  EXPECT_EQ(*ParseDuration("2d"), Seconds(172'800));
  EXPECT_EQ(*ParseDuration("0s"), Seconds(0));
}

TEST(AmountsTest, OtherDurationsAreRejectedWithTheCure) {
  for (const char* text : {"", "300", "s", "-5s", "5 m", "5min", "5M", "infs", "nans", "1e400s",
                           "1e308d", "0x10s", "+5s"}) {
    const auto duration = ParseDuration(text);
    EXPECT_FALSE(duration) << text;
    if (duration) continue;
    EXPECT_EQ(
        duration.error().message,
        "\"" + std::string(text) + "\" is not a duration: write it as 10ms, 300s, 5m, 1.5h or 2d");
  }
}

TEST(AmountsTest, TimeoutsAreSecondsOrGoDurations) {
  using std::chrono::milliseconds;
  EXPECT_EQ(*ParseTimeout("0"), Duration::zero());
  EXPECT_EQ(*ParseTimeout("90"), milliseconds(90'000));
  EXPECT_EQ(*ParseTimeout("1m30s"), milliseconds(90'000));
  for (const char* text : {"", "-1", "9223372037", "99999999999999999999"})
    EXPECT_FALSE(ParseTimeout(text)) << text;
}

TEST(AmountsTest, SizesAreDecimalOrBinary) {
  EXPECT_EQ(*ParseSize("500GB"), Bytes(500'000'000'000));
  EXPECT_EQ(*ParseSize("500G"), Bytes(500'000'000'000));
  EXPECT_EQ(*ParseSize("500000000000B"), Bytes(500'000'000'000));
  EXPECT_EQ(*ParseSize("500Gi"), Bytes(500LL << 30));
  EXPECT_EQ(*ParseSize("1.5Ti"), Bytes(3LL << 39));
  EXPECT_EQ(*ParseSize("62.5GB"), Bytes(62'500'000'000));
  EXPECT_EQ(*ParseSize("1MB"), Bytes(1'000'000));
  EXPECT_EQ(*ParseSize("1Ki"), Bytes(1024));
  EXPECT_EQ(*ParseSize("1TiB"), Bytes(1LL << 40));
  EXPECT_EQ(*ParseSize("1Pi"), Bytes(1LL << 50));
  EXPECT_EQ(*ParseSize("2PB"), Bytes(2'000'000'000'000'000));
  EXPECT_EQ(*ParseSize("1k"), Bytes(1000));
  for (const char* text : {"5gb", "5 GB", "5 gB", "5Gb"}) {
    ASSERT_TRUE(ParseSize(text)) << text;
    EXPECT_EQ(*ParseSize(text), Bytes(5'000'000'000)) << text;
  }
  EXPECT_EQ(*ParseSize("5 gib"), Bytes(5LL << 30));
}

TEST(AmountsTest, OtherSizesAreRejectedWithTheCure) {
  for (const char* text :
       {"", "GB", "-1GB", "5m", "5g", "5GBB", "5i", "GB 5", "inf", "1e19B", "1e300TB"}) {
    const auto size = ParseSize(text);
    EXPECT_FALSE(size) << text;
    if (size) continue;
    EXPECT_EQ(size.error().message,
              "\"" + std::string(text) + "\" is not a size: write it as 500GB or 500Gi");
  }
}

TEST(ParseWholeNumberTest, ReadsDigitsAlone) {
  EXPECT_EQ(ParseWholeNumber("0"), 0);
  EXPECT_EQ(ParseWholeNumber("9223372036854775807"), 9223372036854775807);
  for (const char* other : {"", "-1", "+1", " 1", "1 ", "1.5", "0x1", "9223372036854775808"})
    EXPECT_EQ(ParseWholeNumber(other), std::nullopt) << other;
}

}  // namespace
}  // namespace synergy::cli::testing
