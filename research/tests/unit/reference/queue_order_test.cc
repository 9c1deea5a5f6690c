#include "research/reference/queue_order.h"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "research/tests/unit/reference/reference_vocabulary.h"

namespace synergy::reference {
namespace {

using ::testing::ElementsAre;

std::vector<int64_t> Ordered(std::vector<Job>& jobs, ReferencePolicy policy,
                             bool fair_speed = false) {
  std::vector<Job*> order;
  for (Job& job : jobs) order.push_back(&job);
  Order(order, {.policy = policy, .fair_speed = fair_speed, .total = kServer * 2.0, .now = 1000});
  std::vector<int64_t> ids;
  for (const Job* const job : order) ids.push_back(job->id);
  return ids;
}

TEST(QueueOrderTest, FifoGoesByArrivalAndKeepsTheOrderOfEquals) {
  std::vector<Job> jobs = {Made(OneOf("gnmt", 3, 1, 20)), Made(OneOf("gnmt", 2, 1, 20)),
                           Made(OneOf("gnmt", 1, 1, 10))};
  jobs[0].has_waited = true;
  EXPECT_THAT(Ordered(jobs, ReferencePolicy::kFifo), ElementsAre(1, 3, 2));
}

TEST(QueueOrderTest, SrtfCountsWithTheSpeedOfTheLastRound) {
  std::vector<Job> jobs = {Made(OneOf("gnmt", 0, 1, 0, 200)), Made(OneOf("res18", 1, 1, 0, 300))};
  EXPECT_THAT(Ordered(jobs, ReferencePolicy::kSrtf), ElementsAre(1, 0));
  jobs[1].cut = true;
  EXPECT_THAT(Ordered(jobs, ReferencePolicy::kSrtf), ElementsAre(0, 1));
  jobs[1].cut = false;
  EXPECT_THAT(Ordered(jobs, ReferencePolicy::kSrtf, /*fair_speed=*/true), ElementsAre(0, 1));
}

TEST(QueueOrderTest, LasGoesByGpuTime) {
  std::vector<Job> jobs = {Made(OneOf("gnmt", 0, 4)), Made(OneOf("gnmt", 1, 1))};
  jobs[0].attained = 300;
  jobs[1].attained = 900;
  EXPECT_THAT(Ordered(jobs, ReferencePolicy::kLas), ElementsAre(1, 0));
}

TEST(QueueOrderTest, FtfHasTheBestTreatedGoFirst) {
  std::vector<Job> jobs = {Made(OneOf("gnmt", 0, 1, 0, 1000)),
                           Made(OneOf("gnmt", 1, 1, 900, 1000))};
  EXPECT_THAT(Ordered(jobs, ReferencePolicy::kFtf), ElementsAre(1, 0));
}

TEST(QueueOrderTest, DrfGoesByTheLargestShareOfTheCluster) {
  std::vector<Job> jobs = {Made(OneOf("alexnet", 0)), Made(OneOf("gnmt", 1, 2)),
                           Made(OneOf("gnmt", 2))};
  EXPECT_THAT(Ordered(jobs, ReferencePolicy::kDrf), ElementsAre(2, 1, 0));
}

TEST(QueueOrderTest, TetrisGoesByRemainingTimeTimesDemand) {
  std::vector<Job> jobs = {Made(OneOf("alexnet", 0, 1, 0, 300)), Made(OneOf("gnmt", 1, 1, 0, 900))};
  EXPECT_THAT(Ordered(jobs, ReferencePolicy::kTetris), ElementsAre(0, 1));
  jobs[0].cut = true;
  EXPECT_THAT(Ordered(jobs, ReferencePolicy::kTetris), ElementsAre(1, 0));
}

TEST(QueueOrderTest, JobWithAVeryLongWaitGoesFirstExceptWithFifo) {
  std::vector<Job> jobs = {Made(OneOf("gnmt", 0, 1, 0, 100)), Made(OneOf("gnmt", 1, 1, 1, 500))};
  jobs[1].has_waited = true;
  EXPECT_THAT(Ordered(jobs, ReferencePolicy::kSrtf), ElementsAre(1, 0));
  EXPECT_THAT(Ordered(jobs, ReferencePolicy::kFifo), ElementsAre(0, 1));
}

}  // namespace
}  // namespace synergy::reference
