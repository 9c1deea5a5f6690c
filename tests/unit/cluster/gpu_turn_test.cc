#include "cluster/gpu_turn.h"

#include <gtest/gtest.h>

namespace synergy {
namespace {

using std::chrono::seconds;

WallTime At(int64_t second) { return WallTime(seconds(second)); }

// Returns a turn that runs for 55 of 110 s, in two parts of each cycle.
GpuTurn TwoParts() {
  return {At(1000), seconds(220), {{seconds(55), seconds(110)}, {seconds(165), seconds(220)}}, {}};
}

TEST(GpuTurnTest, RepeatsFromItsEpochAndBefore) {
  const GpuTurn turn = TwoParts();
  for (const int64_t cycle : {-2, -1, 0, 1, 7}) {
    const int64_t begin = 1000 + 220 * cycle;
    EXPECT_FALSE(turn.RunsAt(At(begin)));
    EXPECT_FALSE(turn.RunsAt(At(begin + 54)));
    EXPECT_TRUE(turn.RunsAt(At(begin + 55)));
    EXPECT_TRUE(turn.RunsAt(At(begin + 109)));
    EXPECT_FALSE(turn.RunsAt(At(begin + 110)));
    EXPECT_TRUE(turn.RunsAt(At(begin + 219)));
    EXPECT_EQ(turn.NextSwitch(At(begin)), At(begin + 55));
    EXPECT_EQ(turn.NextSwitch(At(begin + 55)), At(begin + 110));
    EXPECT_EQ(turn.NextSwitch(At(begin + 219)), At(begin + 220));
  }
}

// Compares second by second: the next switch is where RunsAt() changes.
TEST(GpuTurnTest, TheNextSwitchIsWhereRunningChanges) {
  for (const GpuTurn& turn :
       {TwoParts(), GpuTurn{At(0), seconds(120), {{seconds(0), seconds(60)}}, {}},
        GpuTurn{At(0), seconds(120), {{seconds(30), seconds(90)}}, {}},
        GpuTurn{At(7), seconds(90), {{seconds(0), seconds(30)}, {seconds(60), seconds(90)}}, {}}}) {
    ASSERT_TRUE(turn.IsValid());
    for (int64_t second = 0; second < 500; ++second) {
      int64_t next = second + 1;
      while (turn.RunsAt(At(next)) == turn.RunsAt(At(second))) ++next;
      ASSERT_EQ(turn.NextSwitch(At(second)), At(next)) << second;
    }
  }
  const GpuTurn always{At(0), seconds(60), {{seconds(0), seconds(60)}}, {}};
  EXPECT_TRUE(always.IsValid());
  EXPECT_TRUE(always.RunsAt(At(59)));
  EXPECT_EQ(always.NextSwitch(At(59)), std::nullopt);
}

TEST(GpuTurnTest, SuspendsForNoLongerThanTheMost) {
  EXPECT_TRUE((GpuTurn{At(0), seconds(140), {{seconds(0), seconds(30)}}, {}}).IsValid());
  EXPECT_FALSE((GpuTurn{At(0), seconds(141), {{seconds(0), seconds(30)}}, {}}).IsValid());
  EXPECT_FALSE((GpuTurn{At(0), seconds(180), {{seconds(60), seconds(69)}}, {}}).IsValid());
}

TEST(GpuTurnTest, RefusesPartsThatAreNone) {
  const auto valid = [](std::vector<GpuTurn::Part> runs, int64_t cycle = 100) {
    return GpuTurn{At(0), seconds(cycle), std::move(runs), {}}.IsValid();
  };
  EXPECT_FALSE(valid({}));
  EXPECT_FALSE(valid({{seconds(0), seconds(50)}}, 0));
  EXPECT_FALSE(valid({{seconds(0), seconds(50)}}, -100));
  EXPECT_FALSE(valid({{seconds(50), seconds(50)}}));
  EXPECT_FALSE(valid({{seconds(-1), seconds(50)}}));
  EXPECT_FALSE(valid({{seconds(0), seconds(101)}}));
  EXPECT_FALSE(valid({{seconds(0), seconds(50)}, {seconds(40), seconds(60)}}));
  EXPECT_FALSE(valid({{seconds(0), seconds(50)}, {seconds(50), seconds(60)}}));
}

}  // namespace
}  // namespace synergy
