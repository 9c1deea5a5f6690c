#include "core/backoff.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using std::chrono::milliseconds;

TEST(BackoffTest, EachWaitLiesBetweenHalfAStepAndAStepWhileTheStepDoubles) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Backoff backoff(milliseconds(100), milliseconds(1000), seed);
    for (const int step : {100, 200, 400, 800, 1000, 1000, 1000}) {
      const Duration wait = backoff.Next();
      EXPECT_GE(wait, milliseconds(step) / 2) << "seed " << seed;
      EXPECT_LE(wait, milliseconds(step)) << "seed " << seed;
    }
  }
}

TEST(BackoffTest, WaitsDifferFromSeedToSeedSoThatClientsDoNotComeBackTogether) {
  std::vector<Duration> waits;
  for (uint64_t seed = 0; seed < 20; ++seed)
    waits.push_back(Backoff(milliseconds(100), milliseconds(1000), seed).Next());
  std::sort(waits.begin(), waits.end());
  EXPECT_GT(waits.back() - waits.front(), milliseconds(20));
}

TEST(BackoffTest, TheSameSeedGivesTheSameWaits) {
  Backoff one(milliseconds(100), milliseconds(1000), 3);
  Backoff other(milliseconds(100), milliseconds(1000), 3);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(one.Next(), other.Next());
}

TEST(BackoffTest, AfterAResetTheWaitIsShortAgain) {
  Backoff backoff(milliseconds(100), milliseconds(10000), 5);
  for (int i = 0; i < 6; ++i) backoff.Next();
  backoff.Reset();
  EXPECT_LE(backoff.Next(), milliseconds(100));
}

TEST(BackoffTest, ALimitBelowTheFirstStepHoldsFromTheStart) {
  Backoff backoff(milliseconds(100), milliseconds(10), 5);
  EXPECT_LE(backoff.Next(), milliseconds(10));
  backoff.Reset();
  EXPECT_LE(backoff.Next(), milliseconds(10));
}

TEST(BackoffTest, ALimitNearTheLongestDurationDoesNotOverflow) {
  Backoff backoff(milliseconds(1), Duration::max(), 5);
  for (int i = 0; i < 100; ++i) EXPECT_GE(backoff.Next(), Duration::zero());
}

}  // namespace
}  // namespace synergy::testing
