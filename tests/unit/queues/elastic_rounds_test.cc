#include "queues/elastic_rounds.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;

constexpr WallTime kFirstMoment{Duration(std::chrono::hours(500'000))};

class ElasticRoundsTest : public ::testing::Test {
 protected:
  ElasticRoundsTest() {
    settings.policy = "fifo";
    settings.elastic = true;
    settings.restart_cost = seconds(10);
  }

  // Adds a job with a GPU for each worker. With 0 workers it waits, with one.
  void Add(const std::string& name, int workers, int least = 1, int most = 4) {
    RoundWorkload& workload = workloads.emplace_back();
    workload.name = name;
    workload.may_lose_turn = true;
    workload.gpus = Gpus(std::max(workers, 1));
    workload.created = kFirstMoment - minutes(60) + seconds(workloads.size());
    if (workers > 0) {
      workload.state = RoundState::kRuns;
      workload.started = kFirstMoment - minutes(60);
    }
    elastic.push_back({.job = name, .workers = std::max(workers, 1), .least = least, .most = most});
  }
  // Sets the job's total work, at a speed proportional to its workers.
  void Learn(const std::string& name, double total) {
    for (const int workers : {1, 2, 4})
      rounds.See(name, workers, {.rate = workers, .iteration = 0, .total = total});
  }
  // Returns "name: band" for each job, in order.
  std::vector<std::string> Decide(int64_t quota, bool begins = true, Duration after = {}) {
    const RoundDecision decision =
        rounds.Decide(settings, Gpus(quota), workloads, elastic, begins, kFirstMoment + after);
    std::vector<std::string> bands;
    for (const size_t index : decision.order) {
      bands.push_back(workloads[index].name + ": " +
                      std::string(ToString(decision.verdicts[index].band)));
    }
    return bands;
  }
  // Returns the new number of workers; 0 if it does not change.
  int ChangeOf(const std::string& name, int workers, Duration after = {}) const {
    const auto change = rounds.ChangeOf(name, workers, kFirstMoment + after);
    return change ? change->to : 0;
  }

  RoundSettings settings;
  std::vector<RoundWorkload> workloads;
  std::vector<ElasticWorkload> elastic;
  ElasticRounds rounds;
};

TEST_F(ElasticRoundsTest, ArrivalGetsWorkersOfRunningJobsAsARoundBegins) {
  Add("a", 4);
  Add("b", 0);
  Learn("a", 1000);
  Learn("b", 1000);
  EXPECT_THAT(Decide(4, false), ElementsAre("a: runs", "b: waits"));
  EXPECT_EQ(ChangeOf("a", 4), 0);
  EXPECT_THAT(Decide(4), ElementsAre("a: runs", "b: runs"));
  EXPECT_EQ(ChangeOf("a", 4), 2);
  EXPECT_EQ(ChangeOf("b", 1), 2);
  EXPECT_THAT(Decide(4, false, seconds(1)), ElementsAre("a: runs", "b: runs"));
}

TEST_F(ElasticRoundsTest, AJobIsChangedOnceInARoundAndNotLate) {
  Add("a", 4);
  Add("b", 0);
  Learn("a", 1000);
  Learn("b", 1000);
  Decide(4);
  EXPECT_EQ(ChangeOf("a", 4, minutes(1)), 2);
  EXPECT_EQ(ChangeOf("a", 4, minutes(1) + seconds(1)), 0);
  rounds.Changed("a");
  EXPECT_EQ(ChangeOf("a", 4), 0);
}

TEST_F(ElasticRoundsTest, ChangeByTheUserStays) {
  Add("a", 4);
  Add("b", 0);
  Learn("a", 1000);
  Learn("b", 1000);
  Decide(4);
  EXPECT_EQ(ChangeOf("a", 3), 0);
}

TEST_F(ElasticRoundsTest, YoungOrNearlyDoneJobKeepsItsWorkers) {
  Add("a", 2);
  Add("b", 2);
  Learn("a", 1000);
  Learn("b", 100'000);
  workloads[0].service.remaining = seconds(9);
  Decide(4);
  EXPECT_EQ(ChangeOf("a", 2), 0);
  EXPECT_EQ(ChangeOf("b", 2), 0);
  workloads[0].service.remaining = seconds(1000);
  workloads[0].started = kFirstMoment - seconds(299);
  Decide(4);
  EXPECT_EQ(ChangeOf("b", 2), 0);
  workloads[0].started = kFirstMoment - seconds(300);
  Decide(4);
  EXPECT_EQ(ChangeOf("a", 2), 1);
  EXPECT_EQ(ChangeOf("b", 2), 3);
  elastic[0].stays = true;
  Decide(4);
  EXPECT_EQ(ChangeOf("a", 2), 0);
}

TEST_F(ElasticRoundsTest, JobWithoutAPlaceWaitsInTheLowestBandOrYields) {
  Add("a", 2, 2);
  Add("b", 2, 2);
  Add("c", 0, 2);
  EXPECT_THAT(Decide(4), ElementsAre("a: runs", "b: runs", "c: waits"));
  // The job is of a higher class.
  workloads[2].own_priority = 10;
  EXPECT_THAT(Decide(4), ElementsAre("c: runs", "a: runs", "b: next"));
}

TEST_F(ElasticRoundsTest, ArrivalWithinARoundRunsIfItFitsOrYields) {
  Add("a", 2, 2);
  Learn("a", 1000);
  EXPECT_THAT(Decide(4), ElementsAre("a: runs"));
  EXPECT_EQ(ChangeOf("a", 2), 4);
  rounds.Changed("a");
  // Another job has taken what a is going to get.
  Add("b", 1);
  EXPECT_THAT(Decide(4, false), ElementsAre("a: runs", "b: next"));
  EXPECT_THAT(Decide(8, false), ElementsAre("a: runs", "b: runs"));
}

TEST_F(ElasticRoundsTest, UnsuspendableJobRunsToItsEndAndIgnoredJobKeepsGpus) {
  Add("a", 1, 1, 1);
  workloads[0].gpus = Gpus(2);
  workloads[0].may_lose_turn = false;
  Add("b", 2);
  workloads[1].left_alone = true;
  Add("c", 0);
  workloads[2].own_priority = 10;
  EXPECT_THAT(Decide(4), ElementsAre("a: runs", "c: waits"));
  EXPECT_EQ(ChangeOf("b", 2), 0);
}

TEST_F(ElasticRoundsTest, UnsuspendableJobThatGotAPlaceWithinARoundKeepsIt) {
  Add("a", 4, 4);
  Add("b", 0, 2);
  workloads[1].may_lose_turn = false;
  EXPECT_THAT(Decide(4), ElementsAre("a: runs", "b: waits"));
  workloads[1].state = RoundState::kRuns;
  EXPECT_THAT(Decide(4, false), Contains("b: runs"));
}

TEST_F(ElasticRoundsTest, RemainingWorkToATargetLossFollowsTheCurve) {
  Add("a", 2);
  Add("b", 2);
  for (const char* name : {"a", "b"}) {
    for (int iteration = 10; iteration <= 500; iteration += 10) {
      rounds.See(name, 2,
                 {.rate = 2,
                  .iteration = iteration,
                  .total = 100'000,
                  .loss = 1 / (0.01 * iteration + 0.5) + 0.1});
    }
  }
  elastic[0].target_loss = 0.2;   // reached after 950 iterations
  elastic[1].target_loss = 0.11;  // reached after 9950
  Decide(4);
  EXPECT_EQ(ChangeOf("a", 2), 1);
  EXPECT_EQ(ChangeOf("b", 2), 3);
}

TEST_F(ElasticRoundsTest, ForgetsRemovedJobs) {
  Add("a", 2);
  Learn("a", 1000);
  Decide(4);
  EXPECT_EQ(ChangeOf("a", 2), 4);
  rounds.Forget({"a"});
  EXPECT_EQ(ChangeOf("a", 2), 4);
  rounds.Forget({});
  EXPECT_EQ(ChangeOf("a", 2), 0);
  Decide(4);
  EXPECT_EQ(ChangeOf("a", 2), 0) << "its speed or remaining work is unknown";
}

}  // namespace
}  // namespace synergy
