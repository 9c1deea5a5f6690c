#include "core/clock.h"

#include <chrono>
#include <stop_token>
#include <thread>

#include <gtest/gtest.h>
#include <time.h>

#include "support/fake_clock.h"

namespace synergy::testing {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(SystemClockTest, MonotonicTimeNeverGoesBack) {
  const Clock& clock = SystemClock();
  Instant last = clock.Now();
  for (int i = 0; i < 1000; ++i) {
    const Instant now = clock.Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(SystemClockTest, TimeGoesOnWhileTheMachineIsSuspended) {
  timespec since_boot{};
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  const Duration since =
      SystemClock().Now().time_since_epoch() -
      (seconds(since_boot.tv_sec) + std::chrono::nanoseconds(since_boot.tv_nsec));
  EXPECT_LT(std::chrono::abs(since), seconds(5));
}

TEST(SystemClockTest, WallTimeIsTheSystemsTime) {
  const auto difference = std::chrono::system_clock::now() - SystemClock().WallNow();
  EXPECT_LT(std::chrono::abs(difference), seconds(5));
}

TEST(SystemClockTest, SleepsUntilItsDeadline) {
  const Clock& clock = SystemClock();
  const Instant deadline = clock.Now() + milliseconds(5);
  EXPECT_TRUE(clock.SleepUntil(deadline, {}));
  EXPECT_GE(clock.Now(), deadline);
}

TEST(SystemClockTest, AStopEndsASleepOfAnyLength) {
  std::stop_source stop;
  bool slept_through = true;
  std::jthread sleeper([&] { slept_through = SystemClock().SleepFor(hours(1), stop.get_token()); });
  stop.request_stop();
  sleeper.join();
  EXPECT_FALSE(slept_through);
}

TEST(FakeClockTest, StandsStillUntilItIsMoved) {
  FakeClock clock;
  const Instant start = clock.Now();
  const WallTime wall = clock.WallNow();
  EXPECT_EQ(clock.Now(), start);
  clock.Advance(seconds(5));
  EXPECT_EQ(clock.Now(), start + seconds(5));
  EXPECT_EQ(clock.WallNow(), wall + seconds(5));
}

TEST(FakeClockTest, ACorrectedWallClockLeavesMonotonicTimeAlone) {
  FakeClock clock;
  const Instant start = clock.Now();
  clock.SetWall(WallTime(seconds(1)));
  EXPECT_EQ(clock.WallNow(), WallTime(seconds(1)));
  EXPECT_EQ(clock.Now(), start);
}

TEST(FakeClockTest, ASleeperWakesWhenTimeHasPassed) {
  FakeClock clock;
  bool slept_through = false;
  std::jthread sleeper([&] { slept_through = clock.SleepFor(seconds(10), {}); });
  clock.AwaitSleepers(1);
  EXPECT_EQ(clock.AwaitNextWake(), seconds(10));
  clock.Advance(seconds(4));
  EXPECT_EQ(clock.AwaitNextWake(), seconds(6));
  clock.Advance(seconds(6));
  sleeper.join();
  EXPECT_TRUE(slept_through);
}

TEST(FakeClockTest, AStopWakesASleeper) {
  FakeClock clock;
  std::stop_source stop;
  bool slept_through = true;
  std::jthread sleeper([&] { slept_through = clock.SleepFor(seconds(10), stop.get_token()); });
  clock.AwaitSleepers(1);
  stop.request_stop();
  sleeper.join();
  EXPECT_FALSE(slept_through);
}

}  // namespace
}  // namespace synergy::testing
