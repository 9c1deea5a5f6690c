#include "queues/planner/elastic_jobs.h"

#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queues/planner/queue_journal.h"
#include "record/replay.h"
#include "unit/controller/rounds_fixture.h"
#include "wire/journal/queue_steps.h"

namespace synergy::controller {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Tests a queue of four GPUs with elastic jobs.
class ElasticJobsTest : public RoundsFixture {
 protected:
  ElasticJobsTest() {
    objects.elastic = true;
    ChangeQueue([](ClusterQueue& queue) { queue.quota = Gpus(4); });
    ChangePolicy([](RoundPolicy& policy) {
      policy.settings.policy = "fifo";
      policy.settings.elastic = true;
      policy.settings.least_run = seconds(60);
    });
  }

  void AddElastic(const std::string& name, int64_t workers) {
    Workload workload = MakeWorkload(name);
    workload.pods = workers;
    workload.gpus = Gpus(workers);
    Add(workload);
    objects.jobs.Upsert({.uid = workload.owner.uid,
                         .job_namespace = "team",
                         .name = workload.owner.name,
                         .resource_version = "1",
                         .workers = workers,
                         .least = 1,
                         .most = 4});
  }
  // Starts the job with all of its workers; the first one reports for all.
  void StartAll(const std::string& name, double rate) {
    Start(name);
    for (int64_t pod = 1; pod < Now(name).pods; ++pod) {
      QueuedPod other = *objects.pods.Find(name + "-0");
      other.uid = fmt::format("{}-{}", name, pod);
      objects.pods.Upsert(other);
    }
    PodProgress& progress_of = progress[name + "-0"];
    progress_of.iteration = 100;
    progress_of.total = 100'000;
    progress_of.rate = rate;
  }
  // Steps once a second. Leaves notes of service out of the result.
  std::vector<std::string> StepFor(Duration duration) {
    auto written = RoundsFixture::StepFor(duration);
    std::erase_if(written,
                  [](const std::string& one) { return one.find(" served ") != std::string::npos; });
    return written;
  }
  std::vector<std::string> StepUntilRound() { return StepFor(seconds(300)); }
};

TEST_F(ElasticJobsTest, MakesRoomForAnArrivalAsARoundBegins) {
  AddElastic("a", 4);
  StepFor(seconds(1));
  StartAll("a", 4);
  StepFor(seconds(1));
  EXPECT_EQ(Now("a").priority, 1) << "it runs";
  AddElastic("b", 2);
  EXPECT_THAT(StepFor(seconds(200)), ElementsAre("b 0 -> -1"));
  // b has no data, so it gets its least; a gains most from the rest.
  EXPECT_THAT(StepFor(seconds(98)), ElementsAre("job-b 2 -> 1 workers"));
  // This happens when Kueue has seen the change.
  EXPECT_THAT(StepFor(seconds(1)), ElementsAre("b -1 -> 1", "job-a 4 -> 3 workers"));
  EXPECT_EQ(Now("a").priority, 0) << "it is another one";
  EXPECT_EQ(kueue.replaced, 1);
  EXPECT_THAT(events.lines(), ElementsAre(AllOf(StartsWith("SynergyWorkersChanged job-a: "),
                                                HasSubstr("from 4 to 3 workers: "))));
  // The job's earlier service still counts, and the job comes before the waiting one.
  EXPECT_THAT(StepFor(seconds(1)), ElementsAre("a 0 -> 1"));
  EXPECT_GT(Now("a").note->served, 4 * 290);
  EXPECT_EQ(Now("a").note->left_at, 100);
  StartAll("a", 3);
  StartAll("b", 1);
  StepFor(seconds(100));
  EXPECT_EQ(kueue.replaced, 1) << "once in a round";
}

TEST_F(ElasticJobsTest, LeavesAJobThatItsUserStopped) {
  AddElastic("a", 4);
  StepFor(seconds(1));
  StartAll("a", 4);
  AddElastic("b", 2);
  Workload stopped = Now("b");
  stopped.active = false;
  Add(stopped);
  EXPECT_THAT(StepUntilRound(), Not(Contains(HasSubstr("workers"))));
}

TEST_F(ElasticJobsTest, TrainJobKeepsItsNodesAndGetsAnEvent) {
  AddElastic("a", 2);
  Workload workload = Now("a");
  workload.owner.api_version = "trainer.kubeflow.org/v1alpha1";
  workload.owner.kind = "TrainJob";
  Add(workload);
  QueuedJob job = *objects.jobs.Find("team/job-a");
  objects.jobs.Remove(job);
  job.least = job.most = 0;
  job.problem = "nobody may";
  objects.train_jobs.Upsert(job);
  StepFor(seconds(1));
  StartAll("a", 2);
  EXPECT_THAT(StepUntilRound(), Not(Contains(HasSubstr("workers"))));
  EXPECT_THAT(events.lines(),
              ElementsAre(AllOf(StartsWith("SynergyNotElastic "), HasSubstr("nobody may"))));
}

TEST_F(ElasticJobsTest, WorkersAreWrittenAgainAfterAFailure) {
  AddElastic("a", 2);
  StepFor(seconds(1));
  StartAll("a", 2);
  StepFor(seconds(298));
  kueue.failure = Error{ErrorCode::kUnavailable, "away"};
  const auto failed = StepFor(seconds(2));
  EXPECT_THAT(failed, Contains("job-a 2 -> 4 workers"));
  EXPECT_EQ(kueue.replaced, 0);
  kueue.failure.reset();
  EXPECT_THAT(StepFor(seconds(1)), Contains("job-a 2 -> 4 workers"));
  EXPECT_EQ(kueue.replaced, 1);
}

TEST_F(ElasticJobsTest, MakesRoomOnceKueueHasSeenTheNewSize) {
  AddElastic("a", 4);
  StepFor(seconds(1));
  StartAll("a", 4);
  AddElastic("b", 2);
  StepFor(seconds(299));
  Workload before = Now("b");
  before.pods = 2;
  before.gpus = Gpus(2);
  Add(before);
  EXPECT_THAT(StepFor(seconds(2)), IsEmpty());
  before.pods = 1;
  before.gpus = Gpus(1);
  Add(before);
  EXPECT_THAT(StepFor(seconds(1)), ElementsAre("b -1 -> 1", "job-a 4 -> 3 workers"));
}

TEST_F(ElasticJobsTest, RefusedResizeDoesNotBlockOtherJobs) {
  AddElastic("a", 4);
  StepFor(seconds(1));
  StartAll("a", 4);
  AddElastic("b", 2);
  StepFor(seconds(298));
  kueue.refused = "job-b";
  EXPECT_THAT(StepFor(seconds(1)), ElementsAre("job-b 2 -> 1 workers"));
  EXPECT_THAT(StepFor(seconds(1)), ElementsAre("b -1 -> 1", "job-a 4 -> 3 workers"));
}

TEST_F(ElasticJobsTest, InvalidJobGetsOneEventAndKeepsItsWorkers) {
  AddElastic("a", 2);
  QueuedJob job = *objects.jobs.Find("team/job-a");
  job.least = job.most = 0;
  job.problem = "annotation synergy.io/min-workers: missing";
  objects.jobs.Upsert(job);
  StepFor(seconds(1));
  StartAll("a", 2);
  EXPECT_THAT(StepUntilRound(), Not(Contains(HasSubstr("workers"))));
  EXPECT_THAT(events.lines(), ElementsAre("SynergyNotElastic job-a: its workers stay: annotation "
                                          "synergy.io/min-workers: missing"));
}

TEST_F(ElasticJobsTest, AJobThatDoesNotCheckpointKeepsItsWorkers) {
  AddElastic("a", 2);
  Workload workload = Now("a");
  workload.may_lose_turn = false;
  Add(workload);
  StepFor(seconds(1));
  StartAll("a", 2);
  EXPECT_THAT(StepUntilRound(), Not(Contains(HasSubstr("workers"))));
  EXPECT_THAT(events.lines(), ElementsAre(HasSubstr("annotation synergy.io/checkpoint")));
}

TEST_F(ElasticJobsTest, ASizeBeyondItsBoundsIsItsUsers) {
  AddElastic("a", 2);
  QueuedJob job = *objects.jobs.Find("team/job-a");
  job.least = 3;
  objects.jobs.Upsert(job);
  StepFor(seconds(1));
  StartAll("a", 2);
  EXPECT_THAT(StepUntilRound(), Not(Contains(HasSubstr("workers"))));
}

// Tests jobs whose pods have 3 GPUs, on two nodes of 8 GPUs and with quota for all of them.
class ElasticRoomTest : public ElasticJobsTest {
 protected:
  ElasticRoomTest() {
    ChangeQueue([](ClusterQueue& queue) { queue.quota = Gpus(16); });
    for (const char* name : {"n1", "n2"})
      state.UpsertNode(synergy::testing::MakeNode(name, {Gpus(8), Cores(32), GB(320)}));
  }

  void AddWide(const std::string& workload, int64_t workers) {
    AddElastic(workload, workers);
    Workload changed = Now(workload);
    changed.gpus = Gpus(3 * workers);
    changed.pod_gpus = Gpus(3);
    Add(changed);
    QueuedJob job = *objects.jobs.Find("team/" + changed.owner.name);
    job.most = 10;
    objects.jobs.Upsert(job);
  }
};

TEST_F(ElasticRoomTest, AJobGetsNoMoreWorkersThanTheNodesHold) {
  AddWide("a", 2);
  StepFor(seconds(1));
  StartAll("a", 4);
  EXPECT_THAT(StepUntilRound(), Contains("job-a 2 -> 4 workers"));
}

TEST_F(ElasticRoomTest, AJobWithMoreWorkersThanTheNodesHoldGivesThemUp) {
  AddWide("a", 5);
  StepFor(seconds(1));
  Start("a");
  EXPECT_THAT(StepUntilRound(), Contains("job-a 5 -> 4 workers"));
  EXPECT_THAT(events.lines(), Contains(HasSubstr("from 5 to 4 workers: the nodes have no room")));
}

TEST_F(ElasticRoomTest, AJobThatRunsKeepsItsWorkersWhenANodeIsCordoned) {
  AddWide("a", 4);
  StepFor(seconds(1));
  StartAll("a", 4);
  Node cordoned = synergy::testing::MakeNode("n1", {Gpus(8), Cores(32), GB(320)});
  cordoned.unschedulable = true;
  state.UpsertNode(cordoned);
  EXPECT_THAT(StepUntilRound(), Not(Contains(HasSubstr("workers"))));
}

TEST_F(ElasticRoomTest, ARecordingHasTheRoom) {
  class Recording final : public QueueJournal {
   public:
    void Wrote(const QueueStep& step) override { text += wire::WriteQueueLine(step) + "\n"; }
    std::string text = "{\"recording\":\"test\"}\n";
  };
  Recording recording;
  planner.SetJournal(recording);
  driver.StartOver();
  AddWide("a", 5);
  StepFor(seconds(1));
  Start("a");
  EXPECT_THAT(StepUntilRound(), Contains("job-a 5 -> 4 workers"));
  StepUntilRound();
  const auto report = record::Replay(recording.text);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GT(report->counts.at("QueuesPlanned").same, 600U);
  EXPECT_TRUE(report->differences.empty()) << report->differences.front().replayed;
}

}  // namespace
}  // namespace synergy::controller
