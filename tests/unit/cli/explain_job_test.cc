#include "cli/views/explain_job.h"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/cli/queued_jobs.h"

namespace synergy::cli::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

JobExplanation Explained(const QueueFacts& facts, const std::string& job) {
  return ExplainJob(facts, **FindJob(facts, "team", job), {}, kQueueNow);
}

wire::EventAboutPod Event(const std::string& component, const std::string& reason, int ago) {
  wire::EventAboutPod event;
  event.component = component;
  event.reason = reason;
  event.message = "m";
  event.last = kQueueNow - std::chrono::seconds(ago);
  return event;
}

TEST(ExplainJobTest, AJobThatRunsHasWhatItHadAndWhatItWaitedFor) {
  EXPECT_EQ(ToText(Explained(MakeQueue(), "a"), kQueueNow),
            "Job team/a: runs, 1 GPU (workload job-a-12ab)\n"
            "Queue train: las by RoundPolicy turns, 1 GPU (local queue q)\n"
            "  band runs: its round has not ended\n"
            "Attained service 330 GPU-seconds; it lost its turn 2 times\n"
            "Has waited 90s for quota or its turn (fair-share delay), 10s for nodes (fragmentation "
            "delay)\n");
}

TEST(ExplainJobTest, AJobThatWaitsHasItsPlaceAndTheReason) {
  const QueueFacts facts = MakeQueue();
  const JobExplanation explanation = Explained(facts, "b");
  EXPECT_THAT(
      ToText(explanation, kQueueNow),
      HasSubstr("  band next, place 1 of 1 waiting jobs: it is next when GPUs become free\n"));
  const std::string json = ToJson(ToTree(explanation));
  EXPECT_THAT(json, HasSubstr("\"place\": 1"));
  EXPECT_THAT(json, HasSubstr("\"roundPolicy\": \"turns\""));
  EXPECT_THAT(explanation.remarks, IsEmpty());
}

TEST(ExplainJobTest, NamesTheGpuTypeOfAJobAndTheReason) {
  QueueFacts facts = MakeQueue();
  facts.policies[0].settings.policy = "las";
  facts.policies[0].settings.gpu_types = GpuTypes::kAware;
  facts.workloads[0].checks = {{"synergy-rounds", "Pending", "", "", {}}};
  facts.workloads[1].checks = {{"synergy-rounds", "Ready", "K80", "its turn is on K80", {}}};
  EXPECT_THAT(ToText(Explained(facts, "a"), kQueueNow),
              HasSubstr("GPU type K80: its turn is on K80\n"));
  EXPECT_THAT(ToJson(ToTree(Explained(facts, "a"))), HasSubstr("\"gpuProduct\": \"K80\""));
  EXPECT_THAT(
      ToText(Explained(facts, "b"), kQueueNow),
      HasSubstr("GPU type none yet: it waits for its quota, or for its turn on a GPU type\n"));
  facts.local_queues.clear();
  EXPECT_THAT(ToText(Explained(facts, "a"), kQueueNow), HasSubstr("GPU type K80: "))
      << "where its queue may not be seen, too";
  facts.workloads[1].finished = true;
  EXPECT_THAT(ToText(Explained(facts, "a"), kQueueNow), Not(HasSubstr("GPU type")));
}

TEST(ExplainJobTest, RemarksOnADeadlineInDanger) {
  QueueFacts facts = MakeQueue();
  Workload& job = facts.workloads[1];
  job.deadline = kQueueNow + std::chrono::hours(1);
  EXPECT_THAT(Explained(facts, "a").remarks, Contains(HasSubstr("is unknown")));
  job.note->remaining = 7200;
  EXPECT_THAT(Explained(facts, "a").remarks,
              Contains(HasSubstr("by its progress it needs 2h more, and 60m are")));
  job.note->remaining = 1800;
  EXPECT_THAT(Explained(facts, "a").remarks, Not(Contains(HasSubstr("deadline"))));
  job.deadline = kQueueNow - std::chrono::hours(1);
  EXPECT_THAT(Explained(facts, "a").remarks, Contains(HasSubstr("has passed")));
}

TEST(ExplainJobTest, ShowsTheStatusOfATrainJob) {
  JobExplanation explanation = Explained(MakeQueue(), "a");
  EXPECT_THAT(ToText(explanation, kQueueNow), Not(HasSubstr("TrainJob status")));
  EXPECT_THAT(ToJson(ToTree(explanation)), HasSubstr("\"trainerStatus\": null"));
  explanation.trainer_status = {Seconds(720), 45, kQueueNow - std::chrono::seconds(20)};
  EXPECT_THAT(ToText(explanation, kQueueNow),
              HasSubstr("\nTrainJob status, 20s ago: 45 % done, 12m left\n"));
  EXPECT_THAT(ToJson(ToTree(explanation)), HasSubstr("\"remainingSeconds\": 720"));
  explanation.trainer_status = {std::nullopt, std::nullopt, kQueueNow + std::chrono::hours(1)};
  EXPECT_THAT(ToText(explanation, kQueueNow),
              HasSubstr("\nTrainJob status, 0s ago: progress unknown, remaining time unknown\n"));
}

TEST(ExplainJobTest, PodsWithoutANodeAreNamed) {
  QueueFacts facts = MakeQueue();
  facts.pods[0].has_node = facts.pods[0].running = false;
  EXPECT_THAT(ToText(Explained(facts, "a"), kQueueNow), HasSubstr("Pods without a node: a-0 ("));
}

TEST(ExplainJobTest, RemarksOnUnusualJobs) {
  QueueFacts facts = MakeQueue();
  facts.notes = {"pods are not shown: forbidden"};
  facts.workloads[0].may_lose_turn = false;
  EXPECT_THAT(Explained(facts, "b").remarks,
              ElementsAre("pods are not shown: forbidden",
                          HasSubstr("does not declare checkpoints (annotation "
                                    "synergy.io/checkpoint")));
  facts.workloads[0].active = false;
  EXPECT_THAT(Explained(facts, "b").remarks, Contains(HasSubstr("it is stopped (spec.active of")));
  facts.policies[0].status.queues[0].ready = false;
  facts.policies[0].status.queues[0].message = "no quota";
  EXPECT_THAT(Explained(facts, "b").remarks,
              Contains("RoundPolicy turns does not order its queue: no quota"));
  facts.policies.clear();
  EXPECT_THAT(Explained(facts, "b").remarks, Contains(HasSubstr("no RoundPolicy orders")));
  facts.local_queues.clear();
  EXPECT_THAT(Explained(facts, "b").remarks, Contains(HasSubstr("there is no LocalQueue q")));
  EXPECT_THAT(ToText(Explained(facts, "b"), kQueueNow), Not(HasSubstr("\nQueue ")));
}

TEST(ExplainJobTest, ShowsTheServiceOfAnEndedJob) {
  QueueFacts facts = MakeQueue();
  facts.workloads[1].finished = true;
  const std::string text = ToText(Explained(facts, "a"), kQueueNow);
  EXPECT_THAT(text, HasSubstr("Job team/a: ended"));
  EXPECT_THAT(text, HasSubstr("Attained service 300 GPU-seconds"));
  EXPECT_THAT(text, Not(HasSubstr("band")));
}

TEST(ExplainJobTest, SynergysAndKueuesEventsAreShownInOrder) {
  const QueueFacts facts = MakeQueue();
  const JobExplanation explanation =
      ExplainJob(facts, facts.workloads[1],
                 {Event("kueue-admission", "Admitted", 5), Event("job-controller", "Created", 9),
                  Event("synergy-controller", "SynergyTurnLost", 7)},
                 kQueueNow);
  EXPECT_THAT(ToText(explanation, kQueueNow),
              HasSubstr("Events\n  7s  SynergyTurnLost  m\n  5s  Admitted         m\n"));
}

TEST(ExplainJobTest, AJobIsFoundByItsNameOrItsWorkloads) {
  QueueFacts facts = MakeQueue();
  EXPECT_EQ((*FindJob(facts, "team", "a"))->name, "job-a-12ab");
  EXPECT_EQ((*FindJob(facts, "team", "job-a-12ab"))->owner.name, "a");
  EXPECT_EQ(FindJob(facts, "others", "a").error().code, ErrorCode::kNotFound);
  // A job that has ended is ignored in favour of another one with the same name.
  facts.workloads.push_back(MakeRunning("a"));
  facts.workloads.back().name = "job-a-34cd";
  facts.workloads[1].finished = true;
  EXPECT_EQ((*FindJob(facts, "team", "a"))->name, "job-a-34cd");
  facts.workloads[1].finished = false;
  const auto several = FindJob(facts, "team", "a");
  EXPECT_EQ(several.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(
      several.error().message,
      "there are several jobs a: name one of the Workloads job-a-12ab (Job) or job-a-34cd (Job)");
}

}  // namespace
}  // namespace synergy::cli::testing
