#include "engine/sharing/run_meter.h"

#include <chrono>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const Instant kMeterStart{std::chrono::hours(1)};
// The node's clock is far ahead.
const WallTime kNodeStart{std::chrono::hours(600000)};

class RunMeterTest : public ::testing::Test {
 protected:
  // Reports at `at` that the newest of these iterations was at `last`, in seconds.
  bool Report(double at, double iterations, double last, double suspended = 0,
              bool is_suspended = false) {
    const auto to_time = [](double time) { return std::chrono::round<Duration>(Seconds(time)); };
    known_.pod.iterations = iterations;
    known_.pod.last = kNodeStart + to_time(last);
    known_.pod.turn = TurnReading{{"GPU-0"}, is_suspended, to_time(suspended), ""};
    return meter_.Observe(known_, kMeterStart + to_time(at));
  }
  double Rate() const {
    const RunMeter::Stretch stretch = meter_.stretch();
    return stretch.iterations / Seconds(stretch.time).count();
  }

  KnownProgress known_;
  RunMeter meter_;
};

TEST_F(RunMeterTest, IsExactHoweverRarelyTheTrainingPrints) {
  Report(0, 0, 0);
  Report(10, 100, 8);
  EXPECT_EQ(meter_.stretch().time, Duration::zero());
  Report(20, 200, 18);
  Report(30, 200, 18);
  EXPECT_NEAR(Rate(), 10, 1e-9);
  EXPECT_EQ(meter_.silent(), seconds(10));
  EXPECT_EQ(meter_.largest_step(), 100);
  EXPECT_EQ(meter_.iterations(), 200);
}

TEST_F(RunMeterTest, SuspendedTimeIsNotCounted) {
  Report(0, 0, 0);
  Report(10, 10, 10);
  Report(20, 20, 20);
  Report(30, 25, 25, 5, true);  // suspended since 25: no end
  Report(40, 25, 25, 15, true);
  Report(50, 30, 50, 20);  // runs since 45: no end, because it was suspended since the last report
  EXPECT_EQ(meter_.stretch().time, seconds(10));
  Report(60, 40, 60, 20);
  EXPECT_EQ(meter_.stretch().time, seconds(30));
  EXPECT_NEAR(Rate(), 1, 1e-9);
}

TEST_F(RunMeterTest, OnlyIterationsAfterTheBeginCount) {
  Report(0, 0, 0);
  Report(10, 100, 10);
  meter_.Begin(kMeterStart + seconds(15));
  Report(14, 140, 14);
  Report(20, 200, 20);
  Report(22, 202, 22);
  EXPECT_EQ(meter_.stretch().time, Duration::zero());
  Report(24, 204, 24);
  EXPECT_NEAR(Rate(), 1, 1e-9);
  EXPECT_EQ(meter_.silent(), Duration::zero());
}

TEST_F(RunMeterTest, NextStretchBeginsWhereTheLastEnds) {
  for (int at = 0; at <= 30; at += 10) Report(at, at, at);
  meter_.Next();
  EXPECT_EQ(meter_.stretch().iterations, 0);
  Report(40, 60, 40);
  EXPECT_EQ(meter_.stretch().iterations, 30);
}

TEST_F(RunMeterTest, RestartEndsTheStretch) {
  const auto stays = [this](const auto& change) {
    meter_ = RunMeter();
    known_ = {};
    known_.pod.iteration = 50;
    for (int at = 0; at <= 200; at += 20) Report(at, at, at, 10);
    change();
    return Report(210, 210, 210, known_.pod.turn->time_suspended == seconds(10) ? 10 : 0);
  };
  EXPECT_TRUE(stays([] {}));
  EXPECT_EQ(meter_.iterations(), 210);
  EXPECT_FALSE(stays([this] { known_.since += seconds(1); }));
  EXPECT_EQ(meter_.iterations(), 0);
  EXPECT_EQ(meter_.stretch().time, Duration::zero());
  EXPECT_FALSE(stays([this] { known_.pod.format = "counter"; }));
  EXPECT_FALSE(stays([this] { known_.pod.iteration = 49; }));
  EXPECT_FALSE(stays([this] { known_.pod.turn->time_suspended = seconds(0); }));
  meter_ = RunMeter();
  Report(0, 100, 0);
  EXPECT_FALSE(Report(10, 99, 10));
}

TEST_F(RunMeterTest, NewEpochIsNoRestart) {
  known_.pod.iteration = 50;
  known_.pod.epoch = 1;
  Report(0, 0, 0);
  known_.pod.iteration = 1;
  known_.pod.epoch = 2;
  EXPECT_TRUE(Report(10, 10, 10));
}

TEST_F(RunMeterTest, GapAndAJumpOfTheNodesClockEndTheStretch) {
  for (int at = 0; at <= 30; at += 10) Report(at, at, at);
  Report(61, 61, 61);
  EXPECT_EQ(meter_.stretch().time, Duration::zero());
  for (int at = 70; at <= 100; at += 10) Report(at, at, at);
  EXPECT_EQ(meter_.stretch().time, seconds(30));
  Report(110, 110, 130);
  EXPECT_EQ(meter_.stretch().time, Duration::zero());
  for (int at = 120; at <= 150; at += 10) Report(at, at, at);
  EXPECT_NEAR(Rate(), 1, 1e-9);
  Report(160, 160, 140);
  EXPECT_EQ(meter_.stretch().time, Duration::zero());
}

TEST_F(RunMeterTest, ReportsThatAreKnownChangeNothing) {
  for (int at = 0; at <= 30; at += 10) Report(at, at, at);
  EXPECT_TRUE(Report(30, 5, 30));
  EXPECT_NEAR(Rate(), 1, 1e-9);
}

}  // namespace
}  // namespace synergy::testing
