#include "engine/sharing/packing.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const Instant kPackStart{hours(1)};

// Returns a pair of which each does 10 iterations per second alone.
PackCandidate PackedPair(const std::string& first, const std::string& second,
                         const std::string& node = "n") {
  return {.node = node,
          .gpu_product = "v100",
          .first = {.name = first, .workload = "of-" + first, .alone = 10},
          .second = {.name = second, .workload = "of-" + second, .alone = 10},
          .fits = true};
}

PackWindow PackedWindow(double first, double second, Duration length = seconds(30)) {
  const double lasts = Seconds(length).count();
  return {length, {first * 10 * lasts, second * 10 * lasts}};
}

class PackingTest : public ::testing::Test {
 protected:
  std::vector<GpuPack> Plan(const std::vector<PackCandidate>& candidates) {
    return packing_.Plan(now_, candidates);
  }

  // Tries a and b as a pair with these speeds. Returns whether they are kept together.
  bool Try(double first, double second) {
    if (Plan({PackedPair("a", "b")}).empty()) return false;
    for (size_t window = 0; window < Packing::kTrialWindows; ++window) {
      now_ += seconds(30);
      if (packing_.Observe(now_, {"a", "b"}, PackedWindow(first, second))) return false;
    }
    return !packing_.IsOnTrial({"a", "b"});
  }

  Instant now_ = kPackStart;
  Packing packing_;
};

TEST_F(PackingTest, GoodPairIsKeptAfterThreeWindows) {
  EXPECT_TRUE(Try(0.8, 0.7));
  EXPECT_EQ(packing_.counts().kept, 1U);
  EXPECT_EQ(Plan({PackedPair("a", "b")}).size(), 1U);
  const PackResult& result = packing_.results().at(PairOf("of-b", "of-a", "v100"));
  EXPECT_TRUE(result.good);
  EXPECT_NEAR(result.speeds[0], 0.8, 1e-9);
}

TEST_F(PackingTest, BadPairIsUndoneWithinThreeMinutes) {
  EXPECT_FALSE(Try(0.4, 0.4));
  EXPECT_LE(now_, kPackStart + minutes(3));
  EXPECT_EQ(packing_.counts().undone, 1U);
  EXPECT_TRUE(Plan({PackedPair("a", "b")}).empty());
}

TEST_F(PackingTest, EachHasToHaveItsSlice) {
  EXPECT_FALSE(Try(1.0, 0.4));  // the sum is sufficient, but 0.4 is below 0.9 of a half
}

TEST_F(PackingTest, TrialIsAbortedAtOnceWhereOneIsStarved) {
  ASSERT_EQ(Plan({PackedPair("a", "b")}).size(), 1U);
  now_ += seconds(5);
  EXPECT_TRUE(packing_.Observe(now_, {"a", "b"}, PackedWindow(0.9, 0.29, seconds(5))));
  EXPECT_TRUE(Plan({PackedPair("a", "b")}).empty());
}

TEST_F(PackingTest, WindowLastsUntilBothHaveDoneSixteenIterations) {
  PackCandidate slow = PackedPair("a", "b");
  slow.second.alone = 0.1;
  ASSERT_EQ(Plan({slow}).size(), 1U);
  for (int minute = 0; minute < 8; ++minute) {
    now_ += minutes(1);
    packing_.Observe(now_, {"a", "b"}, {minutes(1), {540, 5.4}});
  }
  EXPECT_TRUE(packing_.IsOnTrial({"a", "b"}));  // two windows of 16.2 iterations, and 10.8
  now_ += minutes(1);
  packing_.Observe(now_, {"a", "b"}, {minutes(1), {540, 5.4}});
  EXPECT_FALSE(packing_.IsOnTrial({"a", "b"}));
}

TEST_F(PackingTest, KeptPackThatStarvesASlowPodIsUndoneSoon) {
  packing_.SetResult(PairOf("of-a", "of-b", "v100"), {.speeds = {0.8, 0.7}, .good = true});
  PackCandidate slow = PackedPair("a", "b");
  slow.second.alone = 0.05;
  ASSERT_EQ(Plan({slow}).size(), 1U);
  ASSERT_FALSE(packing_.IsOnTrial({"a", "b"}));
  now_ += seconds(400);
  EXPECT_FALSE(packing_.Observe(now_, {"a", "b"}, {seconds(400), {3600, 1}})) << "a chance";
  now_ += seconds(400);
  EXPECT_TRUE(packing_.Observe(now_, {"a", "b"}, {seconds(400), {3600, 1}}));
  EXPECT_TRUE(Plan({slow}).empty());
}

TEST_F(PackingTest, OnlyPairsThatFitAndWhoseRatesAreKnownAreTried) {
  PackCandidate large = PackedPair("a", "b");
  large.fits = false;
  PackCandidate unknown = PackedPair("c", "d", "m");
  unknown.second.alone.reset();
  EXPECT_TRUE(Plan({large, unknown}).empty());
}

TEST_F(PackingTest, LeastBusyPairIsFirstAndTrialsOfANodeFollowEachOther) {
  PackCandidate busy = PackedPair("a", "b");
  busy.first.busy = busy.second.busy = 0.9;
  PackCandidate idle = PackedPair("c", "d");
  idle.first.busy = idle.second.busy = 0.1;
  PackCandidate elsewhere = PackedPair("e", "f", "m");
  EXPECT_EQ(Plan({busy, idle, elsewhere}), (std::vector<GpuPack>{{"c", "d"}, {"e", "f"}}));
}

TEST_F(PackingTest, SharerIsInOnePack) {
  EXPECT_EQ(
      Plan({PackedPair("a", "b"), PackedPair("a", "c", "m"), PackedPair("b", "c", "l")}).size(),
      1U);
}

TEST_F(PackingTest, RefusedPairRestsTwiceAsLongEachTime) {
  Duration rest = Packing::kFirstRest;
  for (int time = 0; time < 7; ++time) {
    ASSERT_FALSE(Try(0.4, 0.4));
    now_ += rest - seconds(1);
    EXPECT_TRUE(Plan({PackedPair("a", "b")}).empty());
    now_ += seconds(1);
    rest = std::min<Duration>(2 * rest, Packing::kMostRest);
  }
  EXPECT_EQ(rest, Packing::kMostRest);
  EXPECT_EQ(Plan({PackedPair("a", "b")}).size(), 1U);
}

TEST_F(PackingTest, ResultHoldsForAllPodsOfThePairOnTheProduct) {
  ASSERT_FALSE(Try(0.4, 0.4));
  PackCandidate alike = PackedPair("x", "y", "m");
  alike.first.workload = "of-b";
  alike.second.workload = "of-a";
  EXPECT_TRUE(Plan({alike}).empty());
  alike.gpu_product = "p100";
  EXPECT_EQ(Plan({alike}).size(), 1U);

  Packing other;
  other.SetResult(PairOf("of-a", "of-b", "v100"), {.speeds = {0.8, 0.7}, .good = true});
  alike.gpu_product = "v100";
  EXPECT_EQ(other.Plan(now_, std::vector<PackCandidate>{alike}).size(), 1U);
  EXPECT_FALSE(other.IsOnTrial({"x", "y"}));
  EXPECT_EQ(other.counts().tried, 0U);
}

TEST_F(PackingTest, KeptPairIsUndoneAfterTwoBadWindowsOneAfterTheOther) {
  ASSERT_TRUE(Try(0.8, 0.7));
  EXPECT_FALSE(packing_.Observe(now_, {"a", "b"}, PackedWindow(0.5, 0.45)));
  EXPECT_FALSE(packing_.Observe(now_, {"a", "b"}, PackedWindow(0.8, 0.7)));
  EXPECT_FALSE(packing_.Observe(now_, {"a", "b"}, PackedWindow(0.5, 0.45)));
  EXPECT_TRUE(packing_.Observe(now_, {"a", "b"}, PackedWindow(0.9, 0.4)));
  EXPECT_TRUE(Plan({PackedPair("a", "b")}).empty());
}

TEST_F(PackingTest, PackEndsWithItsCandidate) {
  ASSERT_TRUE(Try(0.8, 0.7));
  EXPECT_TRUE(Plan({}).empty());
  EXPECT_FALSE(packing_.Observe(now_, {"a", "b"}, PackedWindow(0.1, 0.1)));
}

}  // namespace
}  // namespace synergy::testing
