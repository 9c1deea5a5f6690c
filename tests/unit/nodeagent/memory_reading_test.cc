#include "nodeagent/memory/memory_reading.h"

#include <chrono>
#include <optional>

#include <gtest/gtest.h>

namespace synergy::nodeagent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// Tests a pod with 60 GiB, 40 of them above its floor.
class MemoryReporterTest : public ::testing::Test {
 protected:
  MemoryReporterTest() {
    fungible.requested.memory = GiB(60);
    fungible.floor.memory = GiB(20);
  }

  std::optional<MemoryReading> After(Duration time, Bytes in_use, bool node_short = false) {
    uptime += time;
    now += time;
    return reporter.Next(fungible, in_use, node_short, {uptime, now});
  }

  ManagedContainer fungible;
  MemoryReporter reporter{std::nullopt};
  Instant uptime{minutes(5)};
  WallTime now{std::chrono::sys_days{std::chrono::year{2026} / 1 / 2}};
};

TEST_F(MemoryReporterTest, ReportsAtFirstAndRoundsUp) {
  const auto reading = After(seconds(1), GiB(16) + MiB(1));
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->in_use, GiB(17));
  EXPECT_EQ(reading->at, now);
  EXPECT_FALSE(reading->node_short);
}

TEST_F(MemoryReporterTest, ReportsNothingWhileLittleChanges) {
  After(seconds(1), GiB(16) + MiB(1));
  EXPECT_FALSE(After(seconds(5), GiB(17)));
  EXPECT_FALSE(After(seconds(5), GiB(15)));
}

TEST_F(MemoryReporterTest, ReportsARiseAtOnceButNotEverySecond) {
  After(seconds(1), GiB(16));
  EXPECT_FALSE(After(seconds(1), GiB(20)));
  const auto reading = After(seconds(1), GiB(24));
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->in_use, GiB(24));
}

TEST_F(MemoryReporterTest, ReportsAFallOnceThePeakIsOver) {
  After(seconds(1), GiB(40));
  std::optional<MemoryReading> reading;
  for (int minute = 1; minute < 10; ++minute) {
    reading = After(minutes(1), GiB(10));
    if (reading) {
      EXPECT_EQ(reading->in_use, GiB(40)) << minute;
    }
  }
  for (int minute = 10; minute < 12 && (!reading || reading->in_use == GiB(40)); ++minute) {
    reading = After(minutes(1), GiB(10));
  }
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->in_use, GiB(10));
}

TEST_F(MemoryReporterTest, ReportsAgainBeforeTheReportIsOld) {
  After(seconds(1), GiB(16));
  EXPECT_FALSE(After(minutes(3), GiB(16)));
  ASSERT_TRUE(After(minutes(1), GiB(16)));
}

TEST_F(MemoryReporterTest, ReportsTheBeginAndEndOfAShortageOfTheNode) {
  After(seconds(1), GiB(16));
  const auto reading = After(seconds(1), GiB(16), true);
  ASSERT_TRUE(reading);
  EXPECT_TRUE(reading->node_short);
  EXPECT_TRUE(After(seconds(1), GiB(16), false));
}

TEST_F(MemoryReporterTest, ReportsNothingOnAPodAtItsFloor) {
  fungible.requested.memory = fungible.floor.memory;
  EXPECT_FALSE(After(seconds(1), GiB(16)));
  EXPECT_FALSE(After(seconds(1), GiB(16), true));
  fungible.requested.memory = GiB(60);
  EXPECT_TRUE(After(seconds(1), GiB(16)));
}

TEST_F(MemoryReporterTest, AClockThatIsSetForwardHidesNoPeak) {
  After(seconds(1), GiB(40));
  now += std::chrono::hours(1);
  const auto reading = After(seconds(30), GiB(10));
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->in_use, GiB(40));
}

// A restarted agent has not seen the peak.
TEST_F(MemoryReporterTest, AdoptsTheReportOfItsPredecessor) {
  reporter = MemoryReporter(MemoryReading{GiB(40), false, now});
  EXPECT_FALSE(After(seconds(30), GiB(10)));
  const auto reading = After(minutes(4), GiB(10));
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->in_use, GiB(40));
}

TEST_F(MemoryReporterTest, DoesNotAdoptAnOldReport) {
  reporter = MemoryReporter(MemoryReading{GiB(40), false, now});
  const auto reading = After(minutes(20), GiB(10));
  ASSERT_TRUE(reading);
  EXPECT_EQ(reading->in_use, GiB(10));
}

}  // namespace
}  // namespace synergy::nodeagent
