#include "profile/remaining_time_check.h"

#include <chrono>

#include <gtest/gtest.h>

namespace synergy {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

TEST(RemainingTimeCheck, AcceptsTrueReports) {
  RemainingTimeCheck check;
  const Seconds all = hours(20);
  for (Seconds ran{}; ran <= all; ran += minutes(5)) {
    EXPECT_EQ(check.Check(all - ran, ran), all - ran) << ran.count();
  }
}

TEST(RemainingTimeCheck, AcceptsReportsOfHalfTheTrueTime) {
  RemainingTimeCheck check;
  for (Seconds ran{}; ran < hours(20); ran += minutes(5)) {
    EXPECT_TRUE(check.Check((hours(20) - ran) / 2, ran)) << ran.count();
  }
}

TEST(RemainingTimeCheck, RefutesAConstantMinute) {
  RemainingTimeCheck check;
  EXPECT_EQ(check.Check(minutes(1), Seconds(0)), Seconds(60));
  EXPECT_TRUE(check.Check(minutes(1), minutes(12)));
  EXPECT_FALSE(check.refuted());
  EXPECT_FALSE(check.Check(minutes(1), minutes(13)));
  EXPECT_TRUE(check.refuted());
  EXPECT_FALSE(check.Check(Seconds(50), hours(9))) << "hardly less";
}

TEST(RemainingTimeCheck, NorIsOneThatGoesToAndFro) {
  RemainingTimeCheck check;
  Seconds ran{};
  for (bool to = true; !check.refuted() && ran < hours(2); ran += minutes(1), to = !to) {
    check.Check(to ? Seconds(30) : Seconds(59), ran);
  }
  EXPECT_TRUE(check.refuted());
}

TEST(RemainingTimeCheck, RefutesReportsThatShrinkWithoutEnd) {
  RemainingTimeCheck check;
  Seconds claimed = minutes(1);
  Seconds ran{};
  for (; !check.refuted() && ran < hours(24); ran += minutes(10)) {
    check.Check(claimed, ran);
    claimed /= 2;
  }
  EXPECT_TRUE(check.refuted());
}

TEST(RemainingTimeCheck, AcceptsAJobAgainOnceItEnds) {
  RemainingTimeCheck check;
  EXPECT_TRUE(check.Check(hours(1), Seconds(0)));
  EXPECT_FALSE(check.Check(hours(1), hours(3)));
  EXPECT_EQ(check.Check(minutes(30), hours(5)), minutes(30));
}

TEST(RemainingTimeCheck, OneThatFindsOutThatItNeedsLongerStartsAnew) {
  RemainingTimeCheck check;
  EXPECT_TRUE(check.Check(minutes(10), Seconds(0)));
  EXPECT_TRUE(check.Check(hours(10), minutes(5)));
  EXPECT_TRUE(check.Check(hours(9), hours(2)));
  EXPECT_FALSE(check.Check(hours(9), hours(21)));
}

}  // namespace
}  // namespace synergy
