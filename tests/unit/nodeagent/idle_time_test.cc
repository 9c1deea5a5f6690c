#include "nodeagent/progress/idle_time.h"

#include <chrono>

#include <gtest/gtest.h>

namespace synergy::nodeagent {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class IdleTimeTest : public ::testing::Test {
 protected:
  // Reads both a second later: meanwhile the GPUs have computed and the CPU was used for this long.
  void Second(double gpu_seconds, Duration cpu) {
    now_ += seconds(1);
    at_ = now_ - milliseconds(200);
    busy_.seconds += gpu_seconds;
    cpu_.used += cpu;
    time_.Observe(&busy_, at_, cpu_, at_, now_);
  }
  void Seconds(int count, double gpu_seconds, Duration cpu) {
    for (int i = 0; i < count; ++i) Second(gpu_seconds, cpu);
  }
  Duration Idle() const { return time_.reading()->idle; }

  Instant now_{minutes(5)};
  Instant at_{};
  ContainerBusy busy_{
      .pod_namespace = "a", .pod = "p", .container = "c", .since = WallTime(minutes(9))};
  CpuUse cpu_;
  IdleTime time_;
};

TEST_F(IdleTimeTest, CountsFromTheFirstReading) {
  EXPECT_FALSE(time_.reading());
  Second(0, milliseconds(0));
  EXPECT_EQ(Idle(), Duration::zero());
  Seconds(60, 0, milliseconds(10));
  EXPECT_EQ(Idle(), seconds(60));
  EXPECT_EQ(time_.reading()->most_cpu, MilliCpu(10));
}

TEST_F(IdleTimeTest, ABusyGpuOrCpuEndsIt) {
  Seconds(61, 0, milliseconds(200));
  EXPECT_EQ(Idle(), seconds(60));
  Second(0.5, milliseconds(0));
  EXPECT_EQ(Idle(), Duration::zero());
  Seconds(10, 0.01, milliseconds(100));
  EXPECT_EQ(Idle(), seconds(10));
  EXPECT_EQ(time_.reading()->most_cpu, MilliCpu(100));
  Second(0, milliseconds(300));
  EXPECT_EQ(Idle(), Duration::zero());
  EXPECT_EQ(time_.reading()->most_cpu, MilliCpu(0));
}

TEST_F(IdleTimeTest, WithoutAReadingNothingIsKnown) {
  Seconds(10, 0, milliseconds(0));
  time_.Observe(nullptr, at_, cpu_, at_, now_);
  EXPECT_FALSE(time_.reading());
  Second(0, milliseconds(0));
  EXPECT_EQ(Idle(), Duration::zero());
  time_.Observe(&busy_, at_, std::nullopt, at_, now_);
  EXPECT_FALSE(time_.reading());
}

TEST_F(IdleTimeTest, ARestartedCountBeginsAgain) {
  Seconds(10, 0, milliseconds(0));
  busy_.since += minutes(1);
  Second(0, milliseconds(0));
  EXPECT_EQ(Idle(), Duration::zero());
  Seconds(5, 0, milliseconds(0));
  cpu_.used = Duration(-1);  // the figure is another container's
  Second(0, milliseconds(0));
  EXPECT_EQ(Idle(), Duration::zero());
}

TEST_F(IdleTimeTest, OldReadingsTakenInAgainDoNotEndIt) {
  Seconds(10, 0, milliseconds(0));
  now_ += seconds(1);
  time_.Observe(&busy_, at_, cpu_, at_, now_);
  EXPECT_EQ(Idle(), seconds(10));
}

}  // namespace
}  // namespace synergy::nodeagent
