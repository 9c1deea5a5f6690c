#include "engine/reservations/remaining_time.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "core/random.h"

namespace synergy::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Instant kStart = Instant(hours(1));

class RemainingTimeTest : public ::testing::Test {
 protected:
  // A training that takes an hour, and whose first estimate says `estimated`.
  void Train(const std::string& workload, Duration estimated) {
    const std::string name = std::to_string(++trainings_);
    times_.EstimateMade(name, workload, estimated, now_);
    now_ += hours(1);
    times_.Ended(name, now_);
  }
  double LikelyFactor(const std::string& workload) const {
    const auto ends = times_.EndOf(workload, hours(1), now_);
    return std::chrono::duration<double, std::ratio<3600>>(ends->likely - now_).count();
  }

  RemainingTimes times_{0.8};
  Instant now_ = kStart;
  int trainings_ = 0;
};

TEST_F(RemainingTimeTest, BeforeAnyTrainingHasEndedTheIntervalIsWide) {
  const TimeRange ends{kStart + minutes(30), kStart + hours(1), kStart + hours(2)};
  EXPECT_EQ(times_.EndOf("a", hours(1), kStart), ends);
}

TEST_F(RemainingTimeTest, AWorkloadThatStopsEarlyIsExpectedToStopEarly) {
  for (int i = 0; i < 10; ++i) Train("a", minutes(90));
  EXPECT_NEAR(LikelyFactor("a"), 2.0 / 3, 1e-6);
}

TEST_F(RemainingTimeTest, WorkloadsWithoutHistoryTakeThatOfAll) {
  for (int i = 0; i < 10; ++i) Train("a", minutes(90));
  EXPECT_NEAR(LikelyFactor("b"), 2.0 / 3, 1e-6);
}

TEST_F(RemainingTimeTest, OwnHistoryCountsBeforeThatOfOthers) {
  for (int i = 0; i < 20; ++i) Train("a", minutes(90));
  for (int i = 0; i < 20; ++i) Train("b", hours(1));
  EXPECT_NEAR(LikelyFactor("a"), 2.0 / 3, 1e-6);
  EXPECT_NEAR(LikelyFactor("b"), 1, 1e-6);
}

TEST_F(RemainingTimeTest, AWorkloadWhoseIntervalsDoNotHoldIsUnknownUntilTheyHoldAgain) {
  // Each ends far later, measured by its estimate, than all before it.
  Duration estimated = hours(100);
  for (int i = 0; i < 10; ++i) {
    Train("a", estimated);
    estimated /= 2;
  }
  EXPECT_FALSE(times_.Holds("a"));
  EXPECT_FALSE(times_.EndOf("a", hours(1), now_));
  for (int i = 0; i < 40; ++i) Train("a", hours(1));
  EXPECT_TRUE(times_.EndOf("a", hours(1), now_));
}

TEST_F(RemainingTimeTest, AnInterruptedTrainingDoesNotCount) {
  for (int i = 0; i < 10; ++i) {
    times_.EstimateMade("x", "a", hours(100), now_);
    times_.Forget("x");
    times_.Ended("x", now_);
  }
  EXPECT_NEAR(LikelyFactor("a"), 1, 1e-6);
}

TEST_F(RemainingTimeTest, AWorkloadWhoseTrainingsStillEndIsKept) {
  for (int i = 0; i < 10; ++i) Train("a", minutes(90));
  for (size_t i = 0; i < 2 * RemainingTimes::kMostWorkloads; ++i) {
    Train("other-" + std::to_string(i), hours(1));
    if (i % 400 == 0) Train("a", minutes(90));
  }
  EXPECT_NEAR(LikelyFactor("a"), 2.0 / 3, 1e-6);
}

// Trainings whose estimates are wrong by a factor each, and waver while they run.
TEST(RemainingTimeProperty, IntervalsHoldWithTheConfidenceAtAnyMoment) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const double spread = 1 + 3 * random.Uniform();
    const double bias = 0.5 + random.Uniform();
    RemainingTimes times(0.8);
    size_t known = 0;
    size_t held = 0;
    constexpr size_t kTrainings = 400;
    Instant begin = kStart;
    for (size_t training = 0; training < kTrainings; ++training) {
      const std::string name = std::to_string(training);
      const uint64_t steps = 4 + random.Below(300);
      const uint64_t moment = random.Below(steps);
      const Instant end = begin + steps * minutes(10);
      const double factor = bias * (1 + (spread - 1) * random.Uniform());
      for (uint64_t step = 0; step < steps; ++step) {
        const Instant now = begin + step * minutes(10);
        const double wavers = factor * (0.9 + 0.2 * random.Uniform());
        const auto left = std::chrono::duration_cast<Duration>((end - now) * wavers);
        times.EstimateMade(name, "a", left, now);
        if (step != moment) continue;
        const auto ends = times.EndOf("a", left, now);
        ASSERT_EQ(ends.has_value(), times.Holds("a"));
        if (!ends) continue;
        ASSERT_LE(ends->earliest, ends->likely);
        ASSERT_LE(ends->likely, ends->latest);
        ++known;
        held += ends->earliest <= end && end <= ends->latest ? 1 : 0;
      }
      times.Ended(name, end);
      begin = end;
    }
    EXPECT_GT(known, kTrainings * 3 / 4);
    EXPECT_GT(held, known * 3 / 4);
  }
}

}  // namespace
}  // namespace synergy::testing
