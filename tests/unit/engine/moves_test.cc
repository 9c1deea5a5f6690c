#include "engine/sharing/moves.h"

#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

MoveNode MoveNodeWith(std::string name, int64_t free) {
  return {std::move(name), "v100x4", Gpus(free)};
}

MovableJob MovableJobOn(std::string name, std::vector<std::string> nodes, int64_t gpus) {
  return {.name = name,
          .workload = "of-" + name,
          .pod_gpus = Gpus(gpus),
          .nodes = std::move(nodes),
          .checkpoints = true,
          .restart = seconds(30),
          .remaining = hours(1)};
}

// Tests two nodes of four GPUs, two of them free on each node, and a job that waits for four.
class MovesTest : public ::testing::Test {
 protected:
  std::optional<GpuMove> Plan() { return moves_.Plan(nodes_, jobs_, waiters_); }

  std::vector<MoveNode> nodes_ = {MoveNodeWith("m", 2), MoveNodeWith("n", 2)};
  std::vector<MovableJob> jobs_ = {MovableJobOn("a", {"m"}, 2), MovableJobOn("b", {"n"}, 2)};
  std::vector<MoveWaiter> waiters_ = {{"w", Gpus(4), 1, minutes(30)}};
  GpuMoves moves_;
};

TEST_F(MovesTest, OneMoveMakesRoomOfFragmentsForTheWaiter) {
  EXPECT_EQ(Plan(), (GpuMove{"a", {"n"}, "w"}));
}

TEST_F(MovesTest, CheapestJobMoves) {
  jobs_[0].restart = seconds(60);
  EXPECT_EQ(Plan(), (GpuMove{"b", {"m"}, "w"}));
}

TEST_F(MovesTest, NothingMovesWhereTheWaiterFitsOrNoMoveHelps) {
  nodes_[0].free = Gpus(4);
  EXPECT_EQ(Plan(), std::nullopt);
  nodes_[0].free = Gpus(1);
  EXPECT_EQ(Plan(), std::nullopt);
}

TEST_F(MovesTest, OnlyJobsThatCheckpointAndWhoseRestartWasMeasuredMove) {
  jobs_[0].checkpoints = false;
  jobs_[1].restart.reset();
  EXPECT_EQ(Plan(), std::nullopt);
}

TEST_F(MovesTest, GainIsMoreThanTwiceTheCost) {
  // 4 GPUs wait and 2 move: 60 GPU-seconds are lost, so 30 s of waiting are not enough.
  waiters_[0].waits = seconds(30);
  EXPECT_EQ(Plan(), std::nullopt);
  waiters_[0].waits = seconds(31);
  EXPECT_TRUE(Plan());
  waiters_[0].waits.reset();
  EXPECT_EQ(GpuMoves().Plan(nodes_, jobs_, waiters_), std::nullopt);
}

TEST_F(MovesTest, OneMoveGoesOnAtATimeAndAJobMovesOnce) {
  ASSERT_TRUE(Plan());
  EXPECT_EQ(Plan(), std::nullopt);
  moves_.OnResult("a", false);
  ASSERT_EQ(Plan()->job, "a");
  moves_.OnResult("a", true);
  EXPECT_EQ(Plan()->job, "b");
  EXPECT_EQ(moves_.moves(), 1U);
}

TEST_F(MovesTest, PlacementThatWasWorseIsRemembered) {
  moves_.OnCompared("of-a", "v100x4", 0.94);
  moves_.OnCompared("of-b", "v100x4", 0.96);
  EXPECT_EQ(Plan()->job, "b");
}

TEST_F(MovesTest, JobOnSeveralNodesComesTogetherWhereOneHasRoom) {
  waiters_.clear();
  jobs_ = {MovableJobOn("gang", {"m", "n"}, 2)};
  EXPECT_EQ(Plan(), std::nullopt);  // it would not be faster
  jobs_[0].faster_together = 1.2;
  EXPECT_EQ(Plan(), (GpuMove{"gang", {"m", "m"}, ""}));
  moves_ = {};
  jobs_[0].remaining = minutes(5);  // a gain of 50 s each, for 30 s
  EXPECT_EQ(Plan(), std::nullopt);
}

}  // namespace
}  // namespace synergy::testing
