#include "sim/queue/kueue_model.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Tests a queue of 4 GPUs in which each delay is a different number of milliseconds.
class KueueModelTest : public ::testing::Test {
 protected:
  explicit KueueModelTest(bool strict = false) {
    kueue_.AddQueue({.name = "train",
                     .local_queue = "team/q",
                     .quotas = {{"gpus", Gpus(4)}},
                     .strict = strict});
  }

  void Create(const std::string& name, int64_t gpus, int64_t priority = 0) {
    Workload workload;
    workload.uid = workload.name = name;
    workload.workload_namespace = "team";
    workload.local_queue = "q";
    workload.pods = 1;
    workload.gpus = Gpus(gpus);
    workload.priority = priority;
    kueue_.Create(workload, at_);
  }
  WriteOutcome SetPriority(const std::string& name, int64_t priority) {
    return kueue_.Write({.workload = kueue_.Find(name), .priority = priority, .note = std::nullopt},
                        at_);
  }
  // Creates a job whose pods have a GPU each.
  void CreateJob(const std::string& name, int64_t pods) {
    kueue_.PutJob({.uid = name, .job_namespace = "team", .name = name, .workers = pods});
    Workload workload;
    workload.uid = workload.name = workload.owner.name = workload.owner.uid = name;
    workload.workload_namespace = "team";
    workload.local_queue = "q";
    workload.pods = pods;
    workload.gpus = Gpus(pods);
    workload.pod_gpus = Gpus(1);
    kueue_.Create(workload, at_);
  }
  std::shared_ptr<const QueuedJob> JobOf(const std::string& name) {
    return kueue_.Objects().jobs.Find("team/" + name);
  }
  static WorkersWrite Resized(std::shared_ptr<const QueuedJob> job, int to) {
    return {std::move(job), "train", {1, to, "a test"}, {}};
  }
  // Returns the actions that become due in this time, each with the milliseconds after which it
  // does.
  std::vector<std::string> RunFor(Duration duration) {
    std::vector<std::string> actions;
    const Instant began = at_.now;
    const Instant end = began + duration;
    while (kueue_.wake() <= end) {
      GoTo(kueue_.wake());
      for (const KueueAction& action : kueue_.Run(at_)) {
        const bool starts = action.kind == KueueAction::Kind::kStart;
        const auto after = std::chrono::duration_cast<milliseconds>(at_.now - began).count();
        actions.push_back(fmt::format("{} {} {}", after, starts ? "start" : "stop", action.name));
        if (!starts) kueue_.PodsGone(action.name, at_);
      }
    }
    GoTo(end);
    return actions;
  }
  void GoTo(Instant now) {
    at_.wall += now - at_.now;
    at_.now = now;
  }

  Moment at_{Instant(seconds(100)), WallTime(std::chrono::hours(1000))};
  KueueModel kueue_{{.schedule = milliseconds(1),
                     .stop = milliseconds(20),
                     .release = milliseconds(300),
                     .start = milliseconds(4000)}};
};

class StrictKueueModelTest : public KueueModelTest {
 protected:
  StrictKueueModelTest() : KueueModelTest(true) {}
};

TEST_F(KueueModelTest, AWorkloadStartsWhenItHasBeenAdmitted) {
  Create("a", 4);
  EXPECT_EQ(kueue_.Find("a")->has_quota, false);
  EXPECT_THAT(RunFor(seconds(10)), ElementsAre("4001 start a"));
  EXPECT_EQ(kueue_.Find("a")->has_quota, true);
  EXPECT_EQ(kueue_.Used("train"), Gpus(4));
}

TEST_F(KueueModelTest, HigherPrioritiesGoFirstThenOlderWorkloads) {
  Create("full", 4);
  RunFor(seconds(5));
  Create("young", 2);
  RunFor(milliseconds(10));
  Create("younger", 2);
  Create("high", 2);
  SetPriority("high", 1);
  kueue_.Finish("full", at_);
  // Room was made for the last one before.
  EXPECT_THAT(RunFor(seconds(10)), ElementsAre("4301 start high", "4301 start young"));
}

TEST_F(KueueModelTest, AWaitingJobOfAnotherSizeKeepsItsWorkload) {
  CreateJob("a", 6);
  EXPECT_THAT(RunFor(seconds(5)), IsEmpty());
  EXPECT_EQ(kueue_.Write(Resized(JobOf("a"), 3), at_), WriteOutcome::kWritten);
  EXPECT_EQ(kueue_.Find("a")->uid, "a");
  EXPECT_EQ(kueue_.Find("a")->gpus, Gpus(3));
  EXPECT_EQ(JobOf("a")->workers, 3);
  EXPECT_THAT(RunFor(seconds(5)), ElementsAre("4001 start a"));
}

TEST_F(KueueModelTest, ARunningJobOfAnotherSizeStopsAndGetsAnotherWorkload) {
  CreateJob("a", 1);
  RunFor(seconds(5));
  EXPECT_EQ(kueue_.Write(Resized(JobOf("a"), 4), at_), WriteOutcome::kWritten);
  EXPECT_TRUE(kueue_.Find("a")->evicted);
  EXPECT_THAT(RunFor(seconds(5)), ElementsAre("20 stop a", "4321 start a"));
  EXPECT_NE(kueue_.Find("a")->uid, "a");
  EXPECT_EQ(kueue_.Find("a")->pods, 4);
  EXPECT_EQ(kueue_.Used("train"), Gpus(4));
  kueue_.Finish("a", at_);
  RunFor(seconds(1));
  EXPECT_EQ(kueue_.size(), 0U);
  EXPECT_EQ(JobOf("a"), nullptr);
}

TEST_F(KueueModelTest, AJobThatHasChangedSinceItWasReadIsNotResized) {
  CreateJob("a", 1);
  const auto before = JobOf("a");
  EXPECT_EQ(kueue_.Write(Resized(before, 2), at_), WriteOutcome::kWritten);
  EXPECT_EQ(kueue_.Write(Resized(before, 3), at_), WriteOutcome::kOutdated);
  EXPECT_EQ(JobOf("a")->workers, 2);
}

TEST_F(KueueModelTest, AWorkloadThatDoesNotFitIsPassedOver) {
  Create("small", 2);
  RunFor(seconds(5));
  Create("large", 4);
  Create("other", 2);
  EXPECT_THAT(RunFor(seconds(5)), ElementsAre("4001 start other"));
}

TEST_F(StrictKueueModelTest, AWorkloadThatDoesNotFitHoldsBackOthers) {
  Create("small", 2);
  RunFor(seconds(5));
  Create("large", 4);
  Create("other", 2);
  EXPECT_THAT(RunFor(seconds(5)), IsEmpty());
}

TEST_F(KueueModelTest, AWorkloadThatAnotherQuotaRefusesIsPassedOverAndEvictsNone) {
  bool has_cpus = false;
  KueueModel kueue{KueueDelays()};
  kueue.AddQueue(
      {.name = "small",
       .local_queue = "team/small",
       .quotas = {{"a", Gpus(1)}},
       .admits = [&](const Workload& workload) { return has_cpus || workload.name != "large"; }});
  for (const char* name : {"large", "other"}) {
    Workload workload;
    workload.uid = workload.name = name;
    workload.workload_namespace = "team";
    workload.local_queue = "small";
    workload.gpus = Gpus(1);
    kueue.Create(workload, at_);
  }
  const auto raise = [&](int64_t priority) {
    kueue.Write({.workload = kueue.Find("large"), .priority = priority, .note = std::nullopt}, at_);
    EXPECT_FALSE(kueue.Find("large")->inadmissible);
    GoTo(at_.now + seconds(1));
    kueue.Run(at_);
  };
  raise(1);
  EXPECT_TRUE(kueue.Find("large")->inadmissible);
  EXPECT_TRUE(kueue.Find("other")->has_quota);
  EXPECT_EQ(kueue.evictions(), 0U);
  has_cpus = true;
  raise(2);
  EXPECT_EQ(kueue.evictions(), 1U);
}

TEST_F(KueueModelTest, APreemptedWorkloadKeepsItsQuotaUntilItsPodsHaveEnded) {
  Create("low", 4);
  RunFor(seconds(5));
  Create("high", 4, 1);
  EXPECT_THAT(RunFor(milliseconds(320)), ElementsAre("21 stop low"));
  EXPECT_TRUE(kueue_.Find("low")->evicted);
  EXPECT_TRUE(kueue_.Find("low")->has_quota);
  EXPECT_THAT(RunFor(seconds(10)), ElementsAre("4002 start high"));
  EXPECT_FALSE(kueue_.Find("low")->has_quota);
  EXPECT_FALSE(kueue_.Find("low")->evicted);
  EXPECT_EQ(kueue_.evictions(), 1U);
}

TEST_F(KueueModelTest, NoMoreAreEvictedThanAreNeededAndTheLastAdmittedFirst) {
  Create("first", 1);
  RunFor(seconds(1));
  Create("second", 2);
  RunFor(seconds(1));
  Create("third", 1);
  RunFor(seconds(9));
  Create("high", 2, 1);
  // The third alone does not suffice; together with the second it more than suffices.
  EXPECT_THAT(RunFor(seconds(1)), ElementsAre("21 stop second"));
}

TEST_F(KueueModelTest, EqualPrioritiesDoNotPreempt) {
  Create("a", 4, 1);
  RunFor(seconds(5));
  Create("b", 4, 1);
  EXPECT_THAT(RunFor(seconds(5)), IsEmpty());
}

TEST_F(KueueModelTest, RoomIsMadeWhenAPriorityRisesNotWhenOneFalls) {
  Create("runs", 4, 1);
  RunFor(seconds(5));
  Create("waits", 4);
  RunFor(seconds(1));
  EXPECT_EQ(SetPriority("runs", -1), WriteOutcome::kWritten);
  EXPECT_THAT(RunFor(seconds(60)), IsEmpty());
  EXPECT_EQ(SetPriority("waits", 1), WriteOutcome::kWritten);
  EXPECT_THAT(RunFor(milliseconds(100)), ElementsAre("21 stop runs"));
}

TEST_F(KueueModelTest, RoomIsMadeForOneWorkloadAtATime) {
  Create("runs", 4);
  RunFor(seconds(5));
  Create("next", 3, 2);
  Create("after", 1, 1);
  EXPECT_THAT(RunFor(seconds(5)),
              ElementsAre("21 stop runs", "4322 start next", "4322 start after"));
}

TEST_F(KueueModelTest, AWriteOverAnOlderVersionIsOutdated) {
  Create("a", 1);
  const auto before = kueue_.Find("a");
  SetPriority("a", 1);
  EXPECT_EQ(kueue_.Write({.workload = before, .priority = 5, .note = std::nullopt}, at_),
            WriteOutcome::kOutdated);
  EXPECT_EQ(kueue_.Find("a")->priority, 1);
}

TEST_F(KueueModelTest, AnEvictedJobThatEndsByItselfLeaves) {
  Create("low", 4);
  RunFor(seconds(5));
  Create("high", 4, 1);
  RunFor(milliseconds(5));
  kueue_.Finish("low", at_);
  EXPECT_THAT(RunFor(seconds(10)), ElementsAre("4301 start high"));
  EXPECT_EQ(kueue_.Find("low"), nullptr);
  EXPECT_EQ(kueue_.Used("train"), Gpus(4));
}

TEST_F(KueueModelTest, AnotherFlavorIsTakenWhenTheFirstIsFull) {
  KueueModel kueue{KueueDelays()};
  kueue.AddQueue(
      {.name = "two", .local_queue = "team/two", .quotas = {{"a", Gpus(1)}, {"b", Gpus(2)}}});
  for (const char* name : {"x", "y", "z"}) {
    Workload workload;
    workload.uid = workload.name = name;
    workload.workload_namespace = "team";
    workload.local_queue = "two";
    workload.gpus = Gpus(name[0] == 'x' ? 2 : 1);
    kueue.Create(workload, at_);
  }
  GoTo(at_.now + seconds(1));
  kueue.Run(at_);
  EXPECT_TRUE(kueue.Find("x")->has_quota);
  EXPECT_TRUE(kueue.Find("y")->has_quota);
  EXPECT_FALSE(kueue.Find("z")->has_quota);
  EXPECT_EQ(kueue.Objects().cluster_queues.Find("two")->quota, Gpus(3));
}

}  // namespace
}  // namespace synergy::testing
