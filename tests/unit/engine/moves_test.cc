#include "engine/sharing/moves.h"

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// Jobs "a" and "b" have two GPUs each, and a move of either makes room for "w", which waits for
// four.
class MovesTest : public ::testing::Test {
 protected:
  std::optional<GpuMove> Plan() {
    return moves_.Plan(jobs_, waiters_,
                       [this](const MovableJob& job,
                              const MoveWaiter&) -> std::optional<std::vector<std::string>> {
                         asked_.push_back(job.name);
                         const auto to = to_.find(job.name);
                         if (to == to_.end()) return std::nullopt;
                         return std::vector<std::string>{to->second};
                       });
  }

  std::vector<MovableJob> jobs_ = {{"a", Gpus(2), true, seconds(30)},
                                   {"b", Gpus(2), true, seconds(30)}};
  std::vector<MoveWaiter> waiters_ = {{"w", Gpus(4), minutes(30)}};
  std::map<std::string, std::string> to_ = {{"a", "n"}, {"b", "m"}};
  std::vector<std::string> asked_;
  GpuMoves moves_;
};

TEST_F(MovesTest, CheapestJobThatHelpsMoves) {
  EXPECT_EQ(Plan(), (GpuMove{"a", {"n"}, "w"}));
  moves_ = {};
  jobs_[0].restart = seconds(31);
  EXPECT_EQ(Plan(), (GpuMove{"b", {"m"}, "w"}));
  moves_ = {};
  to_.erase("b");
  EXPECT_EQ(Plan(), (GpuMove{"a", {"n"}, "w"}));
}

TEST_F(MovesTest, NothingMovesWhereNoMoveHelps) {
  to_.clear();
  EXPECT_EQ(Plan(), std::nullopt);
  EXPECT_EQ(asked_, (std::vector<std::string>{"a", "b"}));
}

TEST_F(MovesTest, OnlyJobsThatCheckpointAndWhoseRestartWasMeasuredMove) {
  jobs_[0].checkpoints = false;
  jobs_[1].restart.reset();
  EXPECT_EQ(Plan(), std::nullopt);
  EXPECT_TRUE(asked_.empty());
}

TEST_F(MovesTest, GainIsMoreThanTwiceTheCost) {
  // 4 GPUs wait and 2 move: 60 GPU-seconds are lost, so 30 s of waiting are not enough.
  waiters_[0].waits = seconds(30);
  EXPECT_EQ(Plan(), std::nullopt);
  waiters_[0].waits = seconds(31);
  EXPECT_TRUE(Plan());
  moves_ = {};
  waiters_[0].waits.reset();
  EXPECT_EQ(Plan(), std::nullopt);
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
  EXPECT_EQ(moves_.worse().size(), 1U);
  EXPECT_TRUE(moves_.worse().contains({"of-a", "v100x4"}));
}

TEST_F(MovesTest, AWaiterAsksForABoundedNumberOfMoves) {
  to_.clear();
  jobs_.clear();
  for (size_t i = 0; i < GpuMoves::kMostAsked + 10; ++i)
    jobs_.push_back({"j" + std::to_string(i), Gpus(1), true, seconds(30)});
  EXPECT_EQ(Plan(), std::nullopt);
  EXPECT_EQ(asked_.size(), GpuMoves::kMostAsked);
}

}  // namespace
}  // namespace synergy::testing
