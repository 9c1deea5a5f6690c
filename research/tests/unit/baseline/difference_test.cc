#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "research/baseline/round.h"

namespace synergy {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Share> On(ServerIndex server, int64_t gpus, int64_t cores) {
  return {{server, {Gpus(gpus), Cores(cores), GB(10)}}};
}

struct Change {
  std::vector<Share> before;
  std::vector<Share> after;
};

std::vector<Action> Actions(const std::vector<Change>& changes) {
  std::vector<Job> jobs;
  Plan plan;
  for (const Change& change : changes) {
    Job job;
    job.id = jobs.size();
    job.holds = change.before;
    jobs.push_back(job);
    plan.shares.push_back(change.after);
  }
  return Difference(jobs, plan);
}

TEST(DifferenceTest, UnchangedSharesNeedNoAction) {
  EXPECT_THAT(Actions({{On(0, 1, 3), On(0, 1, 3)}, {{}, {}}}), IsEmpty());
}

TEST(DifferenceTest, EachKindOfChangeIsAnAction) {
  EXPECT_THAT(Actions({{{}, On(0, 1, 3)}}), ElementsAre(Action{ActionKind::kStart, 0}));
  EXPECT_THAT(Actions({{On(0, 1, 3), {}}}), ElementsAre(Action{ActionKind::kStop, 0}));
  EXPECT_THAT(Actions({{On(0, 1, 3), On(1, 1, 3)}}), ElementsAre(Action{ActionKind::kMove, 0}));
  EXPECT_THAT(Actions({{On(0, 1, 3), On(0, 1, 4)}}), ElementsAre(Action{ActionKind::kResize, 0}));
}

TEST(DifferenceTest, OtherGpusOnTheSameServerAreAMove) {
  EXPECT_THAT(Actions({{On(0, 1, 3), On(0, 2, 3)}}), ElementsAre(Action{ActionKind::kMove, 0}));
}

TEST(DifferenceTest, ReleasingActionsPrecedeTakingOnes) {
  EXPECT_THAT(Actions({{{}, On(0, 1, 3)},
                       {On(0, 1, 3), On(0, 1, 9)},
                       {On(0, 1, 9), On(1, 1, 9)},
                       {On(0, 1, 9), On(0, 1, 3)},
                       {On(0, 1, 9), {}}}),
              ElementsAre(Action{ActionKind::kStop, 4}, Action{ActionKind::kResize, 3},
                          Action{ActionKind::kMove, 2}, Action{ActionKind::kResize, 1},
                          Action{ActionKind::kStart, 0}));
}

}  // namespace
}  // namespace synergy
