#include "controller/queues/queue_controller.h"

#include <chrono>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/controller/rounds_fixture.h"

namespace synergy::controller {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

class QueueControllerTest : public RoundsFixture {};

TEST_F(QueueControllerTest, ChangesOfBandAloneAreWritten) {
  for (const char* name : {"a", "b", "c"}) Add(MakeWorkload(name));
  EXPECT_THAT(Step(), ElementsAre("a 0 -> 1", "c 0 -> -1"));
  EXPECT_EQ(Now("a").note->own, 0);
  EXPECT_THAT(StepFor(seconds(30)), IsEmpty());
}

TEST_F(QueueControllerTest, TheLeastServedTakeTurns) {
  Add(MakeWorkload("a"));
  Add(MakeWorkload("b"));
  EXPECT_THAT(Step(), ElementsAre("a 0 -> 1"));
  Start("a");
  EXPECT_THAT(StepFor(seconds(299)), IsEmpty());
  // A round begins, and a has run for long enough. Kueue considers b when its priority is raised,
  // and must then find that a is lower.
  EXPECT_THAT(StepFor(seconds(1)), ElementsAre("a 1 -> 0", "b 0 -> 1"));
  EXPECT_EQ(Now("a").note->served, 300);
  // The pods of a have a grace period.
  EXPECT_THAT(StepFor(seconds(5)), IsEmpty());
  End("a");
  Start("b");
  EXPECT_THAT(Step(), UnorderedElementsAre("a served 305", "b served 0"))
      << "b has waited, which its note does not say yet";
  EXPECT_EQ(Now("a").OwnPriority(), 0);
  EXPECT_EQ(Now("b").OwnPriority(), 0);
}

TEST_F(QueueControllerTest, RaisesAnOverlookedTurnOnceMore) {
  Add(MakeWorkload("a"));
  Step();
  Start("a");
  StepFor(minutes(6));
  Add(MakeWorkload("b"));
  ASSERT_THAT(StepFor(minutes(6)), Contains("b 0 -> 1"));
  ASSERT_EQ(Now("a").priority, 0);
  // After five seconds the priority is changed back once.
  EXPECT_EQ(Now("b").priority, 2);
  EXPECT_EQ(Now("b").OwnPriority(), 0);
  EXPECT_THAT(StepFor(minutes(1)), Not(Contains(StartsWith("b "))));
  // Finally there is room.
  Workload leaves = Now("a");
  leaves.evicted = true;
  Add(leaves);
  End("a");
  Start("b");
  EXPECT_THAT(StepFor(seconds(10)), Not(Contains(StartsWith("b 2 -> "))));
  // Its next turn ends like any other.
  EXPECT_THAT(StepFor(minutes(25)), Contains("b 2 -> 0"));
}

TEST_F(QueueControllerTest, WaitingForALeavingJobIsNotOverlooked) {
  Add(MakeWorkload("a"));
  Step();
  Start("a");
  StepFor(minutes(6));
  Add(MakeWorkload("b"));
  while (Now("b").priority != 1) StepFor(seconds(1));
  Workload leaves = Now("a");
  leaves.evicted = true;
  Add(leaves);
  StepFor(seconds(30));
  EXPECT_EQ(Now("b").priority, 1);
}

TEST_F(QueueControllerTest, ServiceIsWhatItsPodsRanAndOutlivesTheProcess) {
  Workload two = MakeWorkload("a");
  two.pods = 2;
  two.gpus = Gpus(4);
  ChangeQueue([](ClusterQueue& queue) { queue.quota = Gpus(4); });
  Add(two);
  Step();
  Start("a");
  // Only one of two pods runs, so nothing trains, but its GPUs are in use.
  QueuedPod first = *objects.pods.Find("a-0");
  first.gpus = Gpus(2);
  objects.pods.Upsert(first);
  EXPECT_THAT(StepFor(minutes(4)), IsEmpty());
  objects.pods.Upsert({.uid = "a-1",
                       .pod_namespace = "team",
                       .workload = "a",
                       .has_gpus = true,
                       .gpus = Gpus(2),
                       .has_node = true,
                       .running = true,
                       .since = clock.WallNow()});
  EXPECT_THAT(StepFor(seconds(179)), IsEmpty());
  EXPECT_THAT(StepFor(seconds(1)), ElementsAre("a served 1200"));
  // After some time without a leader, another replica takes over.
  clock.Advance(seconds(100));
  driver.StartOver();
  EXPECT_THAT(StepFor(seconds(200)), ElementsAre("a served 2400"));
}

// An annotation says which pods belong to a workload, and a pod's owner may remove it.
TEST_F(QueueControllerTest, CountsQuotaAsServiceIfPodsCannotBeSeen) {
  Add(MakeWorkload("a"));
  Step();
  Start("a");
  objects.pods.Remove(*objects.pods.Find("a-0"));
  EXPECT_THAT(StepFor(kMostStart), IsEmpty()) << "they may be yet to be made";
  EXPECT_THAT(StepFor(seconds(300)), ElementsAre("a served 300"));
}

TEST_F(QueueControllerTest, JobThatAlwaysClaimsToBeNearlyDoneLosesItsTurn) {
  ChangePolicy([](RoundPolicy& policy) { policy.settings.policy = "srtf"; });
  Add(MakeWorkload("a"));
  Step();
  Start("a");
  progress["a-0"].remaining = seconds(30);
  StepFor(minutes(1));
  Workload other = MakeWorkload("b");
  other.note = RoundNote{.remaining = 5000, .at = clock.WallNow()};
  Add(other);
  StepFor(minutes(9));
  EXPECT_EQ(Now("a").priority, 1);
  StepFor(minutes(10));
  EXPECT_EQ(Now("a").priority, 0) << "thirty seconds are over";
  EXPECT_EQ(BandOf(Now("b")), Band::kRuns);
}

TEST_F(QueueControllerTest, AWaitIsSplitByWhatKeptItAndOutlivesTheProcess) {
  Add(MakeWorkload("a"));
  Step();
  StepFor(seconds(100));
  // The job has its quota, but its pod has no node.
  Start("a");
  QueuedPod pod = *objects.pods.Find("a-0");
  pod.has_node = pod.running = false;
  objects.pods.Upsert(pod);
  EXPECT_THAT(StepFor(seconds(1)), ElementsAre("a served 0")) << "what it waits for no longer";
  EXPECT_EQ(Now("a").note->fair_share_delay, 100);
  driver.StartOver();
  EXPECT_THAT(StepFor(seconds(39)), IsEmpty());
  pod.has_node = true;
  objects.pods.Upsert(pod);
  EXPECT_THAT(StepFor(seconds(1)), ElementsAre("a served 0"));
  EXPECT_EQ(Now("a").note->fragmentation_delay, 40);
  // The pod starts, then runs.
  EXPECT_THAT(StepFor(seconds(10)), IsEmpty());
  pod.running = true;
  pod.since = clock.WallNow();
  objects.pods.Upsert(pod);
  StepFor(seconds(300));
  End("a");
  StepFor(seconds(20));
  driver.StartOver();
  StepFor(seconds(30));
  Start("a");
  StepFor(seconds(1));
  EXPECT_EQ(Now("a").note->served, 301);
  EXPECT_EQ(Now("a").note->fair_share_delay, 150);
  EXPECT_EQ(Now("a").note->fragmentation_delay, 40);
  // Only time with a leader counts.
  EXPECT_THAT(metrics.Render(),
              HasSubstr("synergy_rounds_delay_seconds_total{cluster_queue=\"train\","
                        "delay=\"fragmentation\"} 39\n"));
}

TEST_F(QueueControllerTest, StoppedJobCollectsNoDelay) {
  Workload stopped = MakeWorkload("a");
  stopped.active = false;
  Add(stopped);
  StepFor(seconds(100));
  stopped.active = true;
  Add(stopped);
  Step();
  EXPECT_EQ(Now("a").note->fair_share_delay, 0);
}

TEST_F(QueueControllerTest, LosingATurnEmitsTheSuccessorAndTheLoss) {
  Add(MakeWorkload("b"));
  Workload other = MakeWorkload("c");
  other.workload_namespace = "others";
  objects.local_queues.Upsert({.queue_namespace = "others", .name = "q", .cluster_queue = "train"});
  ChangeQueue([](ClusterQueue& queue) { queue.quota = Gpus(2); });
  Workload large = MakeWorkload("a");
  large.gpus = Gpus(2);
  Add(large);
  Step();
  Start("a");
  progress["a-0"].iteration = 370;
  Add(other);
  StepFor(seconds(299));
  EXPECT_THAT(events.lines(), IsEmpty());
  EXPECT_EQ(Now("a").note->lost_turns, 0U);
  StepFor(seconds(1));
  ASSERT_THAT(events.lines(), SizeIs(1));
  const kube::EventRecord& event = events.all.front();
  EXPECT_EQ(event.api_version + " " + event.kind + " " + event.object_name + " " + event.object_uid,
            "batch/v1 Job job-a uid of a");
  EXPECT_EQ(event.object_namespace, "team");
  EXPECT_EQ(event.reason, "SynergyTurnLost");
  EXPECT_EQ(event.message,
            "its turn ends; next: a job of namespace others, job-b; it had 2 GPUs for 300 s and is "
            "at iteration 370, and continues from its last checkpoint in its next turn");
  EXPECT_EQ(Now("a").note->lost_turns, 1U);
  EXPECT_THAT(metrics.Render(),
              HasSubstr("synergy_rounds_lost_turns_total{cluster_queue=\"train\"} 1\n"));
  // Later writes do not erase it.
  End("a");
  StepFor(seconds(5));
  EXPECT_EQ(Now("a").note->lost_turns, 1U);
}

TEST_F(QueueControllerTest, ReportsTheCostOfALostTurnWhenTheJobContinues) {
  Add(MakeWorkload("a"));
  Step();
  Start("a");
  progress["a-0"].iteration = 370;
  progress["a-0"].iterations = 370;
  StepFor(seconds(10));
  End("a");
  progress.clear();
  EXPECT_THAT(StepFor(seconds(5)), ElementsAre("a served 10"));
  EXPECT_EQ(Now("a").note->left_at, 370);
  driver.StartOver();
  Start("a");
  StepFor(seconds(5));
  EXPECT_THAT(events.lines(), IsEmpty()) << "its log tells nothing yet";
  progress["a-0"].iteration = 352;
  progress["a-0"].iterations = 2;
  StepFor(seconds(5));
  EXPECT_THAT(events.lines(),
              ElementsAre("SynergyTurnBegan job-a: it continues from iteration 350; its last turn "
                          "ended at 370: 20 iterations are repeated"))
      << "once";
  EXPECT_FALSE(Now("a").note->left_at);
}

TEST_F(QueueControllerTest, IterationsOfEpochsAreNotCompared) {
  Add(MakeWorkload("a"));
  Step();
  Start("a");
  progress["a-0"].iteration = 370;
  progress["a-0"].epoch = 3;
  StepFor(seconds(10));
  End("a");
  StepFor(seconds(5));
  EXPECT_FALSE(Now("a").note->left_at);
}

TEST_F(QueueControllerTest, NoTurnIsLostWithoutPreemption) {
  ChangeQueue([](ClusterQueue& queue) { queue.preemption = ""; });
  Add(MakeWorkload("a"));
  Add(MakeWorkload("b"));
  Step();
  Start("a");
  StepFor(seconds(301));
  EXPECT_EQ(Now("a").priority, 0);
  EXPECT_THAT(events.lines(), IsEmpty());
  EXPECT_EQ(Now("a").note->lost_turns, 0U);
}

TEST_F(QueueControllerTest, ALossThatCannotBeWrittenIsNone) {
  Add(MakeWorkload("a"));
  Add(MakeWorkload("b"));
  Step();
  Start("a");
  StepFor(seconds(299));
  kueue.failure = Error{ErrorCode::kUnavailable, "away"};
  StepFor(seconds(3));
  EXPECT_THAT(events.lines(), IsEmpty());
  kueue.failure.reset();
  StepFor(seconds(3));
  EXPECT_THAT(events.lines(), SizeIs(1));
}

TEST_F(QueueControllerTest, AJumpOfTheWallClockIsNoService) {
  Add(MakeWorkload("a"));
  Step();
  Start("a");
  StepFor(seconds(10));
  clock.SetWall(clock.WallNow() + std::chrono::hours(5));
  EXPECT_THAT(StepFor(seconds(1)), IsEmpty());
  EXPECT_THAT(StepFor(seconds(289)), ElementsAre("a served 300"));
}

TEST_F(QueueControllerTest, JobWithoutCheckpointsRunsToItsEnd) {
  Workload stays = MakeWorkload("a");
  stays.may_lose_turn = false;
  Add(stays);
  Step();
  Start("a");
  Add(MakeWorkload("b"));
  for (const std::string& written : StepFor(minutes(20)))
    EXPECT_THAT(written, HasSubstr("a served")) << "nobody's band changes";
  EXPECT_EQ(Now("a").priority, 1);
  EXPECT_EQ(Now("b").priority, 0);
}

TEST_F(QueueControllerTest, ProfileMayDeclareThatItsJobsCheckpoint) {
  for (const char* name : {"a", "b"}) {
    Workload asks = MakeWorkload(name);
    asks.may_lose_turn = false;
    asks.profiles_to_ask = {"bert"};
    Add(asks);
  }
  Step();
  Start("a");
  for (const std::string& written : StepFor(minutes(20)))
    EXPECT_THAT(written, HasSubstr("a served")) << "nobody's band changes";
  checkpointing = {"team/bert"};
  EXPECT_THAT(StepFor(minutes(10)), Contains(HasSubstr("b")));
  EXPECT_EQ(BandOf(Now("b")), Band::kRuns);
}

TEST_F(QueueControllerTest, PrioritiesComeBackWhenThePolicyGoes) {
  Add(MakeWorkload("a", 7));
  Add(MakeWorkload("b", 7));
  Add(MakeWorkload("c", 7));
  Step();
  Start("a");
  EXPECT_EQ(Now("a").priority, 8);
  EXPECT_EQ(Now("c").priority, 6);
  objects.policies.Remove(*objects.policies.Find("policy"));
  // Waiting jobs are written before running ones, so that no running one is evicted meanwhile.
  EXPECT_THAT(Step(), ElementsAre("c 6 -> 7", "a 8 -> 7"));
  EXPECT_FALSE(Now("a").note);
  EXPECT_THAT(Step(), IsEmpty());
}

TEST_F(QueueControllerTest, PrioritiesComeBackWhenTheQueueIsRefused) {
  Add(MakeWorkload("a", 7));
  Step();
  ChangeQueue([](ClusterQueue& queue) { queue.by_usage = true; });
  EXPECT_THAT(Step(), ElementsAre("a 8 -> 7"));
  clock.Advance(seconds(5));
  Step();
  EXPECT_FALSE(kueue.statuses.at("policy").ready);
  EXPECT_EQ(kueue.statuses.at("policy").reason, "QueueRefused");
  EXPECT_THAT(kueue.statuses.at("policy").message,
              HasSubstr("cluster queue train: admissionScope"));
}

TEST_F(QueueControllerTest, ServiceOutlivesARefusalOfTheQueue) {
  Add(MakeWorkload("a", 7));
  Step();
  Workload served = Now("a");
  served.note->served = 3600;
  Add(served);
  ChangeQueue([](ClusterQueue& queue) { queue.by_usage = true; });
  EXPECT_THAT(Step(), ElementsAre("a 8 -> 7"));
  EXPECT_THAT(Step(), IsEmpty());
  ASSERT_TRUE(Now("a").note);
  EXPECT_EQ(Now("a").note->served, 3600);
  ChangeQueue([](ClusterQueue& queue) { queue.by_usage = false; });
  EXPECT_THAT(Step(), ElementsAre("a 7 -> 8"));
  EXPECT_GE(Now("a").note->served, 3600);
}

TEST_F(QueueControllerTest, AWaitingJobOfAStoppedLocalQueueTakesNoTurn) {
  Add(MakeWorkload("a"));
  LocalQueue local =
      *objects.local_queues.Find(Now("a").workload_namespace + "/" + Now("a").local_queue);
  local.stopped = true;
  objects.local_queues.Upsert(local);
  EXPECT_THAT(Step(), IsEmpty());
  EXPECT_EQ(kueue.statuses.at("policy").queues.front().left_alone, 1);
  local.stopped = false;
  objects.local_queues.Upsert(local);
  EXPECT_THAT(Step(), ElementsAre("a 0 -> 1"));
}

TEST_F(QueueControllerTest, ForeignPriorityBecomesTheWorkloadsOwn) {
  Add(MakeWorkload("a", 7));
  Step();
  Workload changed = Now("a");
  changed.priority = 100;
  Add(changed);
  EXPECT_THAT(Step(), ElementsAre("a 100 -> 101"));
  EXPECT_EQ(Now("a").note->own, 100);
}

TEST_F(QueueControllerTest, LeavesAStoppedJob) {
  Workload stopped = MakeWorkload("a");
  stopped.active = false;
  Add(stopped);
  Add(MakeWorkload("b"));
  EXPECT_THAT(Step(), ElementsAre("b 0 -> 1"));
  EXPECT_EQ(kueue.statuses.at("policy").queues.front().left_alone, 1);
}

TEST_F(QueueControllerTest, WritesTheServiceOfAJobThatItsUserStopped) {
  ChangePolicy([](RoundPolicy& policy) { policy.settings.policy = "srtf"; });
  Add(MakeWorkload("a"));
  Step();
  Start("a");
  progress["a-0"].remaining = std::chrono::seconds(600);
  StepFor(seconds(20));
  EXPECT_EQ(Now("a").note->remaining, 600) << "its first report is not lost with this process";
  Workload stopped = Now("a");
  stopped.active = false;
  stopped.evicted = true;
  Add(stopped);
  EXPECT_THAT(StepFor(seconds(5)), ElementsAre("a served 20"));
  EXPECT_EQ(Now("a").note->remaining, 600);
  EXPECT_EQ(Now("a").note->own, 0);
  EXPECT_EQ(Now("a").note->written, 1);
  End("a");
  driver.StartOver();
  EXPECT_THAT(StepFor(seconds(5)), IsEmpty());
}

TEST_F(QueueControllerTest, PrioritiesStayInTheirRange) {
  Add(MakeWorkload("far", 1'000'000));
  Add(MakeWorkload("a"));
  EXPECT_THAT(Step(), ElementsAre("a 0 -> 1"));
}

TEST_F(QueueControllerTest, WorkloadsOfOtherQueuesAndWithoutGpusAreNotTouched) {
  Workload other = MakeWorkload("a");
  other.local_queue = "elsewhere";
  Add(other);
  Workload cpus = MakeWorkload("b");
  cpus.gpus = Gpus(0);
  Add(cpus);
  Workload ended = MakeWorkload("c");
  ended.finished = true;
  Add(ended);
  EXPECT_THAT(Step(), IsEmpty());
}

TEST_F(QueueControllerTest, NoMoreThanTwentyWritesASecond) {
  for (int number = 0; number < 100; ++number) Add(MakeWorkload(fmt::format("w{:02}", number)));
  EXPECT_THAT(Step(), SizeIs(20));
  EXPECT_EQ(Now("w00").priority, 1) << "whose turn it is first";
  EXPECT_THAT(StepFor(seconds(3)), SizeIs(60));
  EXPECT_THAT(StepFor(seconds(3)), SizeIs(19)) << "99: one is next as it is";
}

TEST_F(QueueControllerTest, NothingIsWrittenTwiceOverTheSame) {
  kueue.shows = false;
  Add(MakeWorkload("a"));
  EXPECT_THAT(Step(), ElementsAre("a 0 -> 1"));
  EXPECT_THAT(StepFor(seconds(5)), IsEmpty());
}

TEST_F(QueueControllerTest, RetriesFailedWrites) {
  kueue.failure = Error{ErrorCode::kUnavailable, "away"};
  for (const char* name : {"a", "b", "c", "d", "e"}) Add(MakeWorkload(name));
  EXPECT_THAT(Step(), SizeIs(3)) << "and no longer than that for one step";
  kueue.failure.reset();
  EXPECT_THAT(StepFor(seconds(1)), SizeIs(4));
}

TEST_F(QueueControllerTest, ARefusedPriorityIsReportedAndStopsNoOtherJob) {
  Add(MakeWorkload("a"));
  Step();
  Start("a");
  StepFor(seconds(295));
  Add(MakeWorkload("b"));
  ChangeQueue([](ClusterQueue& queue) { queue.quota = Gpus(3); });
  kueue.failure = Error{ErrorCode::kDenied, "a policy says no"};
  EXPECT_THAT(Step(), ElementsAre("b 0 -> 1"));
  EXPECT_THAT(events.lines(),
              ElementsAre("SynergyNotOrdered job-b: its priority is not changed for now, because "
                          "the API server refuses that: a policy says no"));
  EXPECT_THAT(metrics.Render(),
              HasSubstr("synergy_rounds_writes_total{outcome=\"refused\",what=\"band\"} 1\n"));
  kueue.failure.reset();
  Add(MakeWorkload("c"));
  EXPECT_THAT(StepFor(seconds(2)), ElementsAre("c 0 -> 1"));
  // It is tried again.
  EXPECT_THAT(StepFor(minutes(1)), Contains(StartsWith("b 0 -> ")));
}

TEST_F(QueueControllerTest, ARoundThatDidNotBeginAtOnceGoesOnBeginning) {
  Add(MakeWorkload("a"));
  Add(MakeWorkload("b"));
  Step();
  Start("a");
  StepFor(seconds(299));
  kueue.failure = Error{ErrorCode::kUnavailable, "away"};
  for (const std::string& tried : StepFor(seconds(2))) EXPECT_EQ(tried, "a 1 -> 0");
  EXPECT_EQ(Now("a").priority, 1);
  kueue.failure.reset();
  EXPECT_THAT(StepFor(seconds(3)), ElementsAre("a 1 -> 0", "b 0 -> 1"));
}

TEST_F(QueueControllerTest, TheRestIsKnownByProgressAndKeptWhileItWaits) {
  ChangePolicy([](RoundPolicy& policy) { policy.settings.policy = "srtf"; });
  Add(MakeWorkload("a"));
  Step();
  Start("a");
  progress["a-0"].remaining = minutes(60);
  StepFor(seconds(2));
  End("a");
  progress.clear();
  Step();
  driver.StartOver();
  Workload known = MakeWorkload("b");
  known.note = RoundNote{.remaining = 600};
  Add(known);
  StepFor(seconds(400));
  EXPECT_EQ(Now("b").priority, 1) << "ten minutes and not an hour";
  EXPECT_EQ(Now("a").priority, 0);
  EXPECT_EQ(Now("a").note->remaining, 3600);
}

// Tests srtf with jobs whose logs do not show how long they need, but whose TrainJobs do.
class TrainJobDriverTest : public RoundsFixture {
 protected:
  TrainJobDriverTest() {
    objects.watches_train_jobs = true;
    ChangePolicy([](RoundPolicy& policy) { policy.settings.policy = "srtf"; });
    Workload workload = MakeWorkload("a");
    workload.owner.kind = "TrainJob";
    Add(workload);
    Step();
    Start("a");
  }
  void Report(std::optional<Seconds> remaining, WallTime at) {
    objects.train_jobs.Upsert({.uid = "uid of a",
                               .job_namespace = "team",
                               .name = "job-a",
                               .trainer_status = TrainerStatus{remaining, std::nullopt, at}});
  }
  // Adds a waiting job that needs this many more seconds.
  void AddOther(double remaining) {
    Workload other = MakeWorkload("b");
    other.note = RoundNote{.remaining = remaining, .at = clock.WallNow()};
    Add(other);
  }
};

TEST_F(TrainJobDriverTest, TheRestIsKnownByTheStatusOfATrainJobLessItsAge) {
  Report(minutes(60), clock.WallNow());
  StepFor(seconds(100));
  End("a");
  StepFor(seconds(2));
  EXPECT_EQ(Now("a").note->remaining, 3500);
}

TEST_F(TrainJobDriverTest, ALogGoesBeforeTheStatus) {
  Report(seconds(1), clock.WallNow());
  progress["a-0"].remaining = minutes(60);
  StepFor(seconds(2));
  End("a");
  StepFor(seconds(2));
  EXPECT_EQ(Now("a").note->remaining, 3600);
}

TEST_F(TrainJobDriverTest, IgnoresStatusOfOtherJobsAndOfImpossibleTimes) {
  const WallTime began = clock.WallNow();
  for (const WallTime at : {began - seconds(1), began + std::chrono::hours(9), WallTime::max()}) {
    Report(seconds(1), at);
    StepFor(seconds(1));
  }
  Report(seconds(1), began);
  QueuedJob other = *objects.train_jobs.Find("team/job-a");
  other.uid = "another one of that name";
  objects.train_jobs.Upsert(other);
  StepFor(seconds(1));
  objects.watches_train_jobs = false;
  Report(seconds(1), began);
  StepFor(seconds(1));
  End("a");
  StepFor(seconds(2));
  EXPECT_EQ(Now("a").note->remaining, std::nullopt);
}

TEST_F(TrainJobDriverTest, JobThatAlwaysClaimsToBeNearlyDoneLosesItsTurn) {
  AddOther(5000);
  for (int minute = 0; minute < 9; ++minute) {
    Report(seconds(30), clock.WallNow());
    StepFor(minutes(1));
  }
  EXPECT_EQ(Now("a").priority, 1);
  for (int minute = 0; minute < 7; ++minute) {
    Report(seconds(30), clock.WallNow());
    StepFor(minutes(1));
  }
  EXPECT_EQ(Now("a").priority, 0) << "thirty seconds are over";
  EXPECT_EQ(BandOf(Now("b")), Band::kRuns);
}

TEST_F(TrainJobDriverTest, JobThatStopsReportingLosesItsTurn) {
  AddOther(20'000);
  Report(minutes(60), clock.WallNow());
  StepFor(seconds(5));
  Report(std::nullopt, clock.WallNow());
  StepFor(minutes(29));
  EXPECT_EQ(Now("a").priority, 1);
  Report(seconds(1), clock.WallNow() + std::chrono::hours(9));
  StepFor(minutes(6));
  EXPECT_EQ(Now("a").priority, 0) << "half an hour is over, though it is not refuted";
  EXPECT_EQ(Now("b").priority, 1);
}

TEST_F(TrainJobDriverTest, SilenceCountsWhileTheJobRunsAndIsWatched) {
  Report(minutes(60), clock.WallNow());
  StepFor(minutes(20));
  // The job's turn ends, and its next one begins much later.
  End("a");
  StepFor(minutes(60));
  Start("a");
  StepFor(minutes(9));
  objects.watches_train_jobs = false;
  AddOther(20'000);
  StepFor(minutes(30));
  EXPECT_EQ(Now("a").priority, 1);
  objects.watches_train_jobs = true;
  StepFor(minutes(6));
  EXPECT_EQ(Now("a").priority, 0);
}

TEST_F(QueueControllerTest, StatusListsTheNextWorkloads) {
  for (const char* name : {"a", "b", "c"}) Add(MakeWorkload(name));
  Step();
  const RoundPolicyStatus& status = kueue.statuses.at("policy");
  EXPECT_TRUE(status.ready);
  EXPECT_EQ(status.reason, "Ordered");
  ASSERT_THAT(status.queues, SizeIs(1));
  EXPECT_EQ(status.queues[0].gpus, 1);
  EXPECT_EQ(status.queues[0].runs, 1);
  EXPECT_EQ(status.queues[0].next, 1);
  EXPECT_EQ(status.queues[0].waits, 1);
  EXPECT_THAT(status.queues[0].up_next, ElementsAre("team/a", "team/b", "team/c"));
  EXPECT_THAT(metrics.Render(),
              HasSubstr(R"(synergy_rounds_workloads{band="next",cluster_queue="train"} 1)"));
}

}  // namespace
}  // namespace synergy::controller
