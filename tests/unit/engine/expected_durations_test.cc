#include "engine/reservations/expected_durations.h"

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
using Estimated = ExpectedDurations::Run;

TEST(ExpectedDurationsTest, CountAsTheyAreUntilOneIsOverrun) {
  ExpectedDurations durations(0.8);
  EXPECT_EQ(durations.LongestOf("team", hours(2), {}), hours(2));
  durations.Ended("team", {hours(2), hours(2)}, true);
  durations.Ended("team", {hours(2), hours(1)}, true);
  EXPECT_EQ(durations.LongestOf("team", hours(2), {}), hours(2));
  durations.Ended("team", {hours(2), hours(3)}, true);
  EXPECT_FALSE(durations.LongestOf("team", hours(2), {}));
  EXPECT_FALSE(durations.LongestOf("team", minutes(10), {})) << "of any scale";
  EXPECT_EQ(durations.LongestOf("other", hours(2), {}), hours(2)) << "of another namespace";
}

TEST(ExpectedDurationsTest, AnOverrunCountsBeforeItEnds) {
  ExpectedDurations durations(0.8);
  EXPECT_EQ(durations.LongestOf("team", hours(2), std::vector<Estimated>{{minutes(5), minutes(5)}}),
            hours(2));
  EXPECT_FALSE(
      durations.LongestOf("team", hours(2), std::vector<Estimated>{{minutes(5), minutes(6)}}));
}

TEST(ExpectedDurationsTest, AreLengthenedByWhatTheirScaleHasTaken) {
  ExpectedDurations durations(0.8);
  for (const int ran : {3, 1, 2, 2}) durations.Ended("team", {hours(2), hours(ran)}, true);
  EXPECT_EQ(durations.LongestOf("team", hours(2), {}), hours(3));
  EXPECT_EQ(durations.LongestOf("team", hours(3), {}), minutes(270)) << "of the same scale";
  EXPECT_FALSE(durations.LongestOf("team", hours(4), {})) << "too few of this scale are known";
  // Estimates that hold are not shortened.
  for (size_t i = 0; i < ExpectedDurations::kMostEnded; ++i)
    durations.Ended("team", {hours(2), hours(1)}, true);
  EXPECT_EQ(durations.LongestOf("team", hours(2), {}), hours(2));
}

TEST(ExpectedDurationsTest, TrustDoesNotComeBackByTrainingsThatProveNothing) {
  ExpectedDurations durations(0.8);
  durations.Ended("team", {hours(8), hours(20)}, false);  // deleted after its overrun
  for (int i = 0; i < 100; ++i) {
    durations.Ended("team", {minutes(1), minutes(1)}, true);  // of another scale
    durations.Ended("team", {hours(8), minutes(1)}, true);    // ends long before its estimate
    durations.Ended("team", {hours(8), hours(8)}, false);     // has not completed
  }
  EXPECT_FALSE(durations.LongestOf("team", hours(8), {}));
  EXPECT_EQ(durations.LongestOf("team", minutes(1), {}), minutes(1));
  for (int i = 0; i < 4; ++i) durations.Ended("team", {hours(8), hours(8)}, true);
  EXPECT_EQ(durations.LongestOf("team", hours(8), {}), hours(20)) << "one of five was overrun";
  for (int i = 0; i < 4; ++i) durations.Ended("team", {hours(8), hours(8)}, true);
  EXPECT_EQ(durations.LongestOf("team", hours(8), {}), hours(8)) << "one of nine";
}

// Users err by a random factor of their own.
TEST(ExpectedDurationsTest, BoundsHoldWithTheConfidenceOnceAnEstimateWasOverrun) {
  std::mt19937_64 random(1);
  int asked = 0;
  int held = 0;
  for (int user = 0; user < 400; ++user) {
    std::lognormal_distribution<double> factor(std::uniform_real_distribution(-0.5, 1.)(random),
                                               0.4);
    ExpectedDurations durations(0.8);
    durations.Ended("team", {hours(2), hours(200)}, true);
    for (int run = 0; run < 30; ++run) {
      const Duration ran = std::chrono::duration_cast<Duration>(Seconds(7200 * factor(random)));
      if (const auto longest = durations.LongestOf("team", hours(2), {})) {
        ++asked;
        held += ran <= *longest ? 1 : 0;
      }
      durations.Ended("team", {hours(2), ran}, true);
    }
  }
  EXPECT_GT(asked, 8000);
  EXPECT_GE(held, 0.79 * asked);
}

TEST(ExpectedDurationsTest, AnyDurationsAreBounded) {
  ExpectedDurations durations(0.8);
  for (int i = 0; i < 4; ++i)
    durations.Ended("team", {std::chrono::nanoseconds(1), hours(2'000'000)}, true);
  const auto longest = durations.LongestOf("team", std::chrono::nanoseconds(2), {});
  EXPECT_TRUE(!longest || *longest > Duration::zero());
  for (int i = 0; i < 4; ++i) durations.Ended("team", {hours(1'000'000), hours(2'000'000)}, true);
  EXPECT_FALSE(durations.LongestOf("team", hours(2'000'000), {}));
}

}  // namespace
}  // namespace synergy
