#include "progress/rate_meter.h"

#include <gtest/gtest.h>

namespace synergy {
namespace {

class RateMeterTest : public ::testing::Test {
 protected:
  // Feeds `lines` lines; each comes after `seconds` and adds `iterations`.
  void Train(int lines, double seconds, int64_t iterations) {
    for (int i = 0; i < lines; ++i) {
      Wait(seconds);
      done_ += iterations;
      meter_.Add(now_, done_);
    }
  }
  void Wait(double seconds) { now_ += std::chrono::duration_cast<Duration>(Seconds(seconds)); }

  RateMeter meter_;
  WallTime now_ = WallTime(std::chrono::hours(490'000));
  int64_t done_ = 400;
};

TEST_F(RateMeterTest, OneLineIsNoRate) {
  Train(1, 1, 10);
  EXPECT_FALSE(meter_.Rate());
  Train(1, 2, 10);
  EXPECT_DOUBLE_EQ(*meter_.Rate(), 5);
}

TEST_F(RateMeterTest, OnlyTheLastMinuteCounts) {
  Train(100, 1, 10);
  Train(30, 1, 20);
  EXPECT_NEAR(*meter_.Rate(), 15, 0.2);
  Train(30, 1, 20);
  EXPECT_DOUBLE_EQ(*meter_.Rate(), 20);
}

TEST_F(RateMeterTest, AStallIsLeftOut) {
  for (int i = 0; i < 5; ++i) {
    Train(20, 0.5, 5);
    Wait(12);
  }
  Train(1, 0.5, 5);
  EXPECT_NEAR(*meter_.Rate(), 10, 0.01);
}

TEST_F(RateMeterTest, BurstsOfADataLoaderAreUsual) {
  for (int i = 0; i < 30; ++i) {
    Train(7, 0.3, 1);
    Train(1, 5.9, 1);
  }
  EXPECT_NEAR(*meter_.Rate(), 1, 0.15);
}

// Turns last a minute, and 70 s of training pass between lines, so most stretches contain a pause.
TEST_F(RateMeterTest, APauseCountsInNoStretch) {
  for (int i = 0; i < 10; ++i) {
    Wait(60);
    meter_.Pause(std::chrono::seconds(60) * (i + 1));
    Train(1, 70, 140);
  }
  EXPECT_NEAR(*meter_.Rate(), 2, 0.01);
}

TEST_F(RateMeterTest, APauseThatIsAheadTurnsNoTimeBack) {
  Train(10, 0.5, 5);
  for (int i = 0; i < 5; ++i) {
    // The last line before the pause is read when the pause has begun.
    meter_.Pause(std::chrono::seconds(60) * i + std::chrono::milliseconds(900));
    Train(1, 0.5, 5);
    Wait(60);
    meter_.Pause(std::chrono::seconds(60) * (i + 1));
    Train(119, 0.5, 5);
  }
  EXPECT_NEAR(*meter_.Rate(), 10, 0.2);
}

TEST_F(RateMeterTest, ASlowerPhaseIsNoStall) {
  Train(60, 1, 12);
  Train(30, 3, 6);
  EXPECT_DOUBLE_EQ(*meter_.Rate(), 2);
}

TEST_F(RateMeterTest, SkipsTimeAcrossABreak) {
  Train(10, 1, 10);
  meter_.Break(now_ + std::chrono::seconds(1));
  Wait(3);
  Train(10, 1, 10);
  EXPECT_DOUBLE_EQ(*meter_.Rate(), 10);
}

// If a runtime reads a lot at once, training and evaluation have the same time.
TEST_F(RateMeterTest, ABreakWithinOneTimeSpoilsTheStretchToIt) {
  Train(10, 1, 10);
  Train(1, 8, 10);
  meter_.Break(now_);
  Train(1, 0, 10);
  Train(10, 1, 10);
  EXPECT_DOUBLE_EQ(*meter_.Rate(), 10);
}

TEST_F(RateMeterTest, LinesWithOneTimeAreOnePoint) {
  for (int i = 0; i < 20; ++i) {
    Train(1, 4, 1);
    Train(39, 0, 1);
  }
  EXPECT_DOUBLE_EQ(*meter_.Rate(), 10);
}

TEST_F(RateMeterTest, AClockThatGoesBackBreaks) {
  Train(10, 1, 10);
  Wait(-3600);
  Train(10, 1, 10);
  EXPECT_DOUBLE_EQ(*meter_.Rate(), 10);
}

}  // namespace
}  // namespace synergy
