#include "nodeagent/cgroups/busy_time.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace synergy::nodeagent {
namespace {

using std::chrono::seconds;

constexpr WallTime kBegin = WallTime{} + std::chrono::hours(9);

// The wall clock does not count.
Moment At(Duration after) { return {Instant(std::chrono::hours(1)) + after, kBegin + after}; }

ContainerBusy Sample(double busy, WallTime since = kBegin) {
  return {"team", "a", "main", busy, since};
}

TEST(BusyTimeTest, EstimatesTheBusyTimeOfTheLastMinute) {
  BusyTime time;
  for (int i = 0; i <= 60; ++i) {
    // From then on the training is half as fast.
    const double busy = i <= 30 ? 1.6 * i : 48 + 0.8 * (i - 30);
    EXPECT_TRUE(time.Observe(Sample(100 + busy), At(seconds(2 * i))));
    if (i == 30) {
      EXPECT_NEAR(*time.Estimate()->rate, 0.8, 1e-9);
    }
  }
  ASSERT_TRUE(time.Estimate());
  EXPECT_NEAR(time.Estimate()->busy, 72, 1e-9);  // time before the first sample does not count
  EXPECT_NEAR(*time.Estimate()->rate, 0.4, 1e-9);
  EXPECT_EQ(time.Estimate()->at, kBegin + seconds(120));
}

TEST(BusyTimeTest, GpuThatWasNeverBusyHasNoEstimate) {
  BusyTime time;
  for (int i = 0; i < 60; ++i) time.Observe(Sample(50), At(seconds(2 * i)));
  EXPECT_FALSE(time.Estimate());
}

TEST(BusyTimeTest, AMomentIsNoRate) {
  BusyTime time;
  time.Observe(Sample(0), At({}));
  time.Observe(Sample(2), At(seconds(2)));
  ASSERT_TRUE(time.Estimate());
  EXPECT_FALSE(time.Estimate()->rate);
}

TEST(BusyTimeTest, TheSameAgainIsNothingNew) {
  BusyTime time;
  EXPECT_TRUE(time.Observe(Sample(1), At({})));
  EXPECT_FALSE(time.Observe(Sample(1), At({})));
  EXPECT_FALSE(time.Observe(Sample(5), At(seconds(-2))));
}

TEST(BusyTimeTest, AnotherCountGoesOnAndNeverFalls) {
  BusyTime time;
  for (int i = 0; i <= 10; ++i) time.Observe(Sample(2 * i), At(seconds(2 * i)));
  EXPECT_NEAR(time.Estimate()->busy, 20, 1e-9);
  // The plugin is restarted a minute later.
  const WallTime again = kBegin + seconds(80);
  time.Observe(Sample(0, again), At(seconds(80)));
  EXPECT_NEAR(time.Estimate()->busy, 20, 1e-9);
  EXPECT_FALSE(time.Estimate()->rate);
  for (int i = 1; i <= 10; ++i) time.Observe(Sample(i, again), At(seconds(80 + 2 * i)));
  EXPECT_NEAR(time.Estimate()->busy, 30, 1e-9);
  EXPECT_NEAR(*time.Estimate()->rate, 0.5, 1e-9);
  time.Observe(Sample(3, again), At(seconds(102)));  // the value has fallen
  EXPECT_NEAR(time.Estimate()->busy, 30, 1e-9);
}

TEST(BusyTimeTest, BusyTimeIsNeverAboveThePassedTime) {
  BusyTime time;
  time.Observe(Sample(0), At({}));
  time.Observe(Sample(1e12), At(seconds(20)));
  EXPECT_NEAR(time.Estimate()->busy, 20, 1e-9);
}

TEST(BusyTimeTest, FindsTheContainer) {
  const NodeBusy busy{kBegin, {{"team", "a", "main", 1, kBegin}, {"other", "a", "main", 2, {}}}};
  ASSERT_NE(FindBusy(busy, "other", "a", "main"), nullptr);
  EXPECT_EQ(FindBusy(busy, "other", "a", "main")->seconds, 2);
  EXPECT_EQ(FindBusy(busy, "team", "a", "sidecar"), nullptr);
}

}  // namespace
}  // namespace synergy::nodeagent
