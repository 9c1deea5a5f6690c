#include "inventory/gpu_busy.h"

#include <chrono>
#include <optional>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class BusyMeterTest : public ::testing::Test {
 protected:
  void After(Duration passed, const std::map<std::string, std::optional<double>>& utilizations) {
    at.now += passed;
    at.wall += passed;
    meter.Add(utilizations, at);
  }
  double SecondsOf(const std::string& uuid) const {
    const auto busy = meter.Of(uuid);
    return busy ? busy->seconds : -1;
  }

  BusyMeter meter;
  Moment at{Instant{} + std::chrono::hours(1), WallTime{} + std::chrono::hours(9)};
};

TEST_F(BusyMeterTest, CountsWhatOfTheTimeAGpuWasBusy) {
  After(seconds(1), {{"GPU-0", 0.5}, {"GPU-1", 0.0}});
  const WallTime first = at.wall;
  EXPECT_EQ(SecondsOf("GPU-0"), 0);  // the earlier time is unknown
  After(seconds(1), {{"GPU-0", 0.5}, {"GPU-1", 1.0}});
  After(milliseconds(1500), {{"GPU-0", 0.8}, {"GPU-1", 1.0}});
  EXPECT_NEAR(SecondsOf("GPU-0"), 0.5 + 1.2, 1e-9);
  EXPECT_NEAR(SecondsOf("GPU-1"), 2.5, 1e-9);
  EXPECT_EQ(meter.Of("GPU-0")->since, first);
  EXPECT_FALSE(meter.Of("GPU-2"));
}

TEST_F(BusyMeterTest, UnknownUseDoesNotCountAndStartsAgainLater) {
  After(seconds(1), {{"GPU-0", 1.0}});
  After(seconds(1), {{"GPU-0", 1.0}});
  After(seconds(1), {{"GPU-0", std::nullopt}});
  EXPECT_FALSE(meter.Of("GPU-0"));
  After(seconds(1), {{"GPU-0", 1.0}});
  EXPECT_EQ(SecondsOf("GPU-0"), 0);
  EXPECT_EQ(meter.Of("GPU-0")->since, at.wall);
}

TEST_F(BusyMeterTest, SampleDoesNotCoverALongGap) {
  After(seconds(1), {{"GPU-0", 1.0}});
  After(seconds(1), {{"GPU-0", 1.0}});
  After(seconds(6), {{"GPU-0", 1.0}});
  EXPECT_EQ(SecondsOf("GPU-0"), 0);
  EXPECT_EQ(meter.Of("GPU-0")->since, at.wall);
}

TEST_F(BusyMeterTest, UseIsNeverAboveAllTheTime) {
  After(seconds(1), {{"GPU-0", 1.0}});
  After(seconds(1), {{"GPU-0", 37.0}});
  EXPECT_NEAR(SecondsOf("GPU-0"), 1, 1e-9);
}

}  // namespace
}  // namespace synergy::testing
