#include <chrono>

#include <gtest/gtest.h>

#include "queues/planner/workload_ledger.h"

namespace synergy {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

TEST(RemainingBelief, AJobThatDoesAsItSaysIsBelieved) {
  RemainingBelief belief;
  const Seconds all = hours(20);
  for (Seconds ran{}; ran <= all; ran += minutes(5)) {
    EXPECT_EQ(belief.Hear(all - ran, ran), all - ran) << ran.count();
  }
}

TEST(RemainingBelief, SoIsOneThatIsTwiceAsSlowAsItSays) {
  RemainingBelief belief;
  for (Seconds ran{}; ran < hours(20); ran += minutes(5)) {
    EXPECT_TRUE(belief.Hear((hours(20) - ran) / 2, ran)) << ran.count();
  }
}

TEST(RemainingBelief, OneThatSaysAMinuteForEverIsNot) {
  RemainingBelief belief;
  EXPECT_EQ(belief.Hear(minutes(1), Seconds(0)), Seconds(60));
  EXPECT_TRUE(belief.Hear(minutes(1), minutes(12)));
  EXPECT_FALSE(belief.refuted());
  EXPECT_FALSE(belief.Hear(minutes(1), minutes(13)));
  EXPECT_TRUE(belief.refuted());
  EXPECT_FALSE(belief.Hear(Seconds(50), hours(9))) << "hardly less";
}

TEST(RemainingBelief, NorIsOneThatGoesToAndFro) {
  RemainingBelief belief;
  Seconds ran{};
  for (bool to = true; !belief.refuted() && ran < hours(2); ran += minutes(1), to = !to) {
    belief.Hear(to ? Seconds(30) : Seconds(59), ran);
  }
  EXPECT_TRUE(belief.refuted());
}

TEST(RemainingBelief, NorIsOneThatSaysLessAndLess) {
  RemainingBelief belief;
  Seconds said = minutes(1);
  Seconds ran{};
  for (; !belief.refuted() && ran < hours(24); ran += minutes(10)) {
    belief.Hear(said, ran);
    said /= 2;
  }
  EXPECT_TRUE(belief.refuted());
}

TEST(RemainingBelief, OneThatEndsAfterAllIsBelievedAgain) {
  RemainingBelief belief;
  EXPECT_TRUE(belief.Hear(hours(1), Seconds(0)));
  EXPECT_FALSE(belief.Hear(hours(1), hours(3)));
  EXPECT_EQ(belief.Hear(minutes(30), hours(5)), minutes(30));
}

TEST(RemainingBelief, OneThatFindsOutThatItNeedsLongerStartsAnew) {
  RemainingBelief belief;
  EXPECT_TRUE(belief.Hear(minutes(10), Seconds(0)));
  EXPECT_TRUE(belief.Hear(hours(10), minutes(5)));
  EXPECT_TRUE(belief.Hear(hours(9), hours(2)));
  EXPECT_FALSE(belief.Hear(hours(9), hours(21)));
}

}  // namespace
}  // namespace synergy
