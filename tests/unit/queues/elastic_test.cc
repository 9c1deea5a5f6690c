#include "queues/elastic.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"

namespace synergy {
namespace {

using ::testing::ElementsAre;

constexpr Seconds kRestart{10};

// Returns a curve that is proportional to the workers, with a cost for each: f = 1 / (1 / w + each
// w).
SpeedCurve Curve(double each = 0) {
  return {.form = SpeedForm::kAllReduce, .batch = 1, .factors = {1, 0, each}};
}

ElasticTask Elastic(const std::string& name, int now, double work, double each = 0) {
  ElasticTask task;
  task.name = name;
  task.least = 1;
  task.most = 4;
  task.now = now;
  task.work = work;
  task.speed = Curve(each);
  return task;
}

ElasticTask Fixed(const std::string& name, int64_t gpus, bool runs) {
  ElasticTask task;
  task.name = name;
  task.now = runs ? 1 : 0;
  task.worker = Gpus(gpus);
  return task;
}

std::vector<int> Divide(const std::vector<ElasticTask>& tasks, int64_t quota,
                        Seconds restart = kRestart) {
  std::vector<int> workers;
  for (const ElasticVerdict& verdict : DivideWorkers(tasks, Gpus(quota), restart))
    workers.push_back(verdict.workers);
  return workers;
}

TEST(DivideWorkersTest, MakesRoomForAnArrival) {
  EXPECT_THAT(Divide({Elastic("a", 4, 1000), Elastic("b", 0, 1000)}, 4), ElementsAre(2, 2));
}

TEST(DivideWorkersTest, GivesNoJobLessThanItsLeast) {
  ElasticTask large = Elastic("b", 0, 1e6);
  large.least = 2;
  ElasticTask least = Elastic("a", 3, 10);
  least.least = 3;
  const std::vector<ElasticVerdict> verdicts =
      DivideWorkers(std::vector{least, large}, Gpus(4), kRestart);
  EXPECT_EQ(verdicts[0].workers, 3);
  EXPECT_EQ(verdicts[1].workers, 0);
  EXPECT_EQ(verdicts[1].why, "the least workers of earlier jobs leave no room");
}

TEST(DivideWorkersTest, PrefersRunningJobsAndHigherClassesAboveAll) {
  ElasticTask first = Elastic("first", 0, 1000);
  first.created = WallTime(std::chrono::seconds(1));
  ElasticTask runs = Elastic("runs", 1, 1000);
  runs.created = WallTime(std::chrono::seconds(2));
  EXPECT_THAT(Divide({first, runs}, 1), ElementsAre(0, 1));
  first.priority = 10;
  EXPECT_THAT(Divide({first, runs}, 1), ElementsAre(1, 0));
  runs.to_its_end = true;
  EXPECT_THAT(Divide({first, runs}, 1), ElementsAre(0, 1));
}

TEST(DivideWorkersTest, AChangePaysItsRestart) {
  // One more worker saves 1000 / 2 - 1000 / 3 = 167 s.
  EXPECT_THAT(Divide({Elastic("a", 2, 1000)}, 3), ElementsAre(3));
  EXPECT_THAT(Divide({Elastic("a", 2, 1000)}, 3, Seconds(200)), ElementsAre(2));
  EXPECT_EQ(DivideWorkers(std::vector{Elastic("a", 2, 1000)}, Gpus(3), Seconds(200))[0].why,
            "no other number of workers would save the cost of a restart");
  // By a moved worker the second gains a little, but less than two restarts cost.
  const std::vector<ElasticTask> uneven = {Elastic("a", 2, 100), Elastic("b", 2, 320)};
  EXPECT_THAT(Divide(uneven, 4, Seconds(0)), ElementsAre(1, 3));
  EXPECT_THAT(Divide(uneven, 4), ElementsAre(2, 2));
}

TEST(DivideWorkersTest, WorkersMoveWhereTheyAreWorthMore) {
  // The second one has done most of its work.
  EXPECT_THAT(Divide({Elastic("a", 2, 4000), Elastic("b", 2, 100)}, 4), ElementsAre(3, 1));
}

TEST(DivideWorkersTest, MoreWorkersThanHelpAreNotTaken) {
  // f = 1 / (1 / w + w / 4): two workers are best.
  EXPECT_THAT(Divide({Elastic("a", 1, 1000, 0.25)}, 4), ElementsAre(2));
}

TEST(DivideWorkersTest, JobGivesUpWorkersForWhichTheNodesHaveNoRoom) {
  ElasticTask capped = Elastic("a", 4, 1000);
  capped.asks = 4;
  capped.most = 3;
  capped.capped = true;
  ElasticTask unknown = capped;
  unknown.speed.reset();
  for (const ElasticTask& task : {capped, unknown}) {
    const auto verdicts = DivideWorkers(std::vector{task}, Gpus(8), kRestart);
    EXPECT_EQ(verdicts[0].workers, 3);
    EXPECT_EQ(verdicts[0].why, "the nodes have no room for more of its pods");
  }
}

TEST(DivideWorkersTest, JobOfUnknownSpeedKeepsUnneededWorkers) {
  ElasticTask unknown = Elastic("a", 3, 0);
  unknown.speed.reset();
  EXPECT_THAT(Divide({unknown}, 4), ElementsAre(3));
  // It gives workers only until another job has its least.
  EXPECT_THAT(Divide({unknown, Fixed("b", 2, false)}, 4), ElementsAre(2, 1));
  unknown.now = 0;
  EXPECT_THAT(Divide({unknown}, 4), ElementsAre(1));
  unknown.asks = 2;
  EXPECT_THAT(Divide({unknown}, 4), ElementsAre(2));
  EXPECT_THAT(Divide({unknown, Elastic("b", 0, 1000)}, 4), ElementsAre(1, 3));
}

TEST(DivideWorkersTest, FixedJobIsNotChangedForOthers) {
  ElasticTask stays = Elastic("a", 4, 1000);
  stays.stays = true;
  EXPECT_THAT(Divide({stays, Elastic("b", 0, 1000)}, 4), ElementsAre(4, 0));
  // This holds even if the quota has become smaller.
  EXPECT_THAT(Divide({stays, Elastic("b", 0, 1000)}, 3), ElementsAre(4, 0));
}

TEST(DivideWorkersTest, NeitherMoreThanTheQuotaNorLessThanALeastEver) {
  Random random(7);
  for (int run = 0; run < 2000; ++run) {
    std::vector<ElasticTask> tasks;
    const auto quota = static_cast<int64_t>(1 + random.Below(16));
    Gpus held;
    for (uint64_t count = random.Below(8); count > 0; --count) {
      ElasticTask task =
          Elastic(std::to_string(count), 0, 10 + 1000 * random.Uniform(), 0.1 * random.Uniform());
      task.least = 1 + static_cast<int>(random.Below(3));
      task.most = task.least + static_cast<int>(random.Below(6));
      task.worker = Gpus(1 + static_cast<int64_t>(random.Below(2)));
      if (random.Below(4) == 0) task.speed.reset();
      const int now =
          task.least +
          static_cast<int>(random.Below(static_cast<uint64_t>(task.most - task.least + 1)));
      if (random.Below(2) == 0 && held + task.worker * now <= Gpus(quota)) {
        task.now = now;
        task.stays = random.Below(4) == 0;
        held += task.worker * now;
      }
      tasks.push_back(task);
    }
    const auto verdicts = DivideWorkers(tasks, Gpus(quota), kRestart);
    Gpus given;
    for (size_t index = 0; index < tasks.size(); ++index) {
      const int workers = verdicts[index].workers;
      given += tasks[index].worker * workers;
      ASSERT_TRUE(workers == 0 || workers >= tasks[index].least) << "run " << run;
      ASSERT_LE(workers, tasks[index].most) << "run " << run;
      if (tasks[index].stays) {
        ASSERT_EQ(workers, tasks[index].now) << "run " << run;
      }
      if (tasks[index].now > 0) {
        ASSERT_GT(workers, 0) << "run " << run;
      }
    }
    ASSERT_LE(given, Gpus(quota)) << "run " << run;
  }
}

TEST(ElasticRecordTest, FewSizesAreTakenForBetterThanTheyAre) {
  const SpeedCurve truth{.form = SpeedForm::kAllReduce, .batch = 1, .factors = {0.8, 0.1, 0.02}};
  const auto at = [](const SpeedCurve& curve, int workers) {
    return curve.At({.servers = 0, .workers = workers});
  };
  ElasticRecord record;
  EXPECT_FALSE(record.Speed());
  for (const int workers : {2, 1, 4}) {
    record.SeeSpeed(workers, at(truth, workers));
    const auto curve = record.Speed();
    ASSERT_TRUE(curve);
    EXPECT_NEAR(at(*curve, workers), at(truth, workers), 0.05 * at(truth, workers));
    EXPECT_GE(at(*curve, 8), at(truth, 8) * 0.999);
  }
  EXPECT_NEAR(at(*record.Speed(), 8), at(truth, 8), 1e-6);
}

TEST(ElasticRecordTest, RemainingWorkFollowsFromTheLossThenTheTotal) {
  ElasticRecord record;
  EXPECT_FALSE(record.WorkLeft(10, {}, 0.5));
  EXPECT_EQ(record.WorkLeft(10, 100, {}), 90);
  EXPECT_EQ(record.WorkLeft(100, 100, {}), 1);
  const LossCurve truth{.a = 0.01, .b = 0.5, .c = 0.1};
  for (int iteration = 0; iteration < 5000; ++iteration)
    record.SeeLoss(iteration, truth.At(iteration));
  EXPECT_LE(record.losses().size(), ElasticRecord::kMostLosses);
  EXPECT_GT(record.losses().back().epoch, 4000);
  // 1 / (0.01 k + 0.5) = 0.01: k = 9950.
  EXPECT_NEAR(*record.WorkLeft(5000, 100'000, 0.11), 4950, 100);
  // The loss never reaches this value.
  EXPECT_EQ(record.WorkLeft(5000, 100'000, 0.05), 95'000);
}

TEST(ElasticRecordTest, IsRestoredFromItsSavedValues) {
  ElasticRecord record;
  for (int iteration = 0; iteration < 1000; iteration += 7)
    record.SeeLoss(iteration, 2.0 / (iteration + 1));
  record.SeeSpeed(3, 5);
  record.SeeSpeed(1, 2);
  const ElasticRecord again(record.speeds(), record.losses());
  EXPECT_EQ(again.losses(), record.losses());
  ASSERT_EQ(again.speeds().size(), 2U);
  EXPECT_EQ(again.speeds()[0].speed, 2);
}

}  // namespace
}  // namespace synergy
