#include "engine/reservations/learnt_durations.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace synergy {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

TEST(LearntDurationsTest, FourEndedTrainingsBoundTheNextWithProbabilityFourFifths) {
  LearntDurations durations(0.8);
  EXPECT_FALSE(durations.LongestOf("w", {}));
  for (const int ran : {50, 40, 60}) durations.Ended("w", minutes(ran));
  EXPECT_FALSE(durations.LongestOf("w", {})) << "of three, the longest holds with 3/4";
  durations.Ended("w", minutes(45));
  EXPECT_EQ(durations.LongestOf("w", {}), minutes(60));
  EXPECT_FALSE(durations.LongestOf("v", {})) << "another workload";
}

TEST(LearntDurationsTest, ARunThatTakesLongerCountsBeforeItEnds) {
  LearntDurations durations(0.8);
  for (int i = 0; i < 4; ++i) durations.Ended("w", minutes(1));
  EXPECT_EQ(durations.LongestOf("w", std::vector<Duration>{minutes(1)}), minutes(1));
  EXPECT_FALSE(durations.LongestOf("w", std::vector<Duration>{minutes(2)}));
  // Its end makes the bound longer, not unknown.
  durations.Ended("w", hours(10));
  EXPECT_EQ(durations.LongestOf("w", {}), hours(10));
}

TEST(LearntDurationsTest, ForgetsTheOldestTrainingsAndWorkloads) {
  LearntDurations durations(0.8);
  durations.Ended("w", hours(10));
  for (size_t i = 0; i < LearntDurations::kMostEnded; ++i) durations.Ended("w", minutes(1));
  EXPECT_EQ(durations.LongestOf("w", {}), minutes(1));
  for (size_t i = 0; i < LearntDurations::kMostWorkloads; ++i)
    durations.Ended(std::to_string(i), minutes(1));
  EXPECT_FALSE(durations.LongestOf("w", {}));
}

TEST(LearntDurationsTest, AWorkloadWhoseTrainingsStillEndIsKept) {
  LearntDurations durations(0.8);
  for (int i = 0; i < 4; ++i) durations.Ended("w", minutes(1));
  for (size_t i = 0; i < 2 * LearntDurations::kMostWorkloads; ++i) {
    durations.Ended(std::to_string(i), minutes(1));
    if (i % 400 == 0) durations.Ended("w", minutes(1));
  }
  EXPECT_EQ(durations.LongestOf("w", {}), minutes(1));
}

// Trainings of random lengths; the next one is asked about before it begins.
TEST(LearntDurationsTest, BoundsHoldWithTheConfidence) {
  std::mt19937_64 random(1);
  int asked = 0;
  int held = 0;
  for (int workload = 0; workload < 400; ++workload) {
    std::lognormal_distribution<double> minutes_of(3,
                                                   std::uniform_real_distribution(0., 2.)(random));
    LearntDurations durations(0.8);
    for (int run = 0; run < 30; ++run) {
      const Duration ran = std::chrono::duration_cast<Duration>(
          std::chrono::duration<double, std::ratio<60>>(minutes_of(random)));
      if (const auto longest = durations.LongestOf("w", {})) {
        ++asked;
        held += ran <= *longest;
      }
      durations.Ended("w", ran);
    }
  }
  EXPECT_GT(held, 0.79 * asked);
  EXPECT_LT(held, 0.86 * asked);
}

// The bound is one of the ended durations, or unknown, and more or longer
// running trainings never make it shorter.
TEST(LearntDurationsTest, RunningTrainingsOnlyMakeTheBoundLonger) {
  std::mt19937_64 random(2);
  const auto any = [&] { return minutes(std::uniform_int_distribution(1, 20)(random)); };
  for (int round = 0; round < 2000; ++round) {
    LearntDurations durations(0.8);
    std::vector<Duration> ended;
    for (int i = std::uniform_int_distribution(0, 12)(random); i > 0; --i) {
      ended.push_back(any());
      durations.Ended("w", ended.back());
    }
    std::vector<Duration> running;
    std::optional<Duration> before = durations.LongestOf("w", running);
    for (int i = 0; i < 6; ++i) {
      running.push_back(any());
      const std::optional<Duration> now = durations.LongestOf("w", running);
      if (now) {
        EXPECT_TRUE(std::find(ended.begin(), ended.end(), *now) != ended.end());
        ASSERT_TRUE(before) << "a running training made it known";
        EXPECT_GE(*now, *before);
      }
      before = now;
    }
  }
}

}  // namespace
}  // namespace synergy
