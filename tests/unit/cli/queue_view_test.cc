#include "cli/views/queue_view.h"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/cli/queued_jobs.h"

namespace synergy::cli::testing {
namespace {

using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Returns "place job state band" for each job, in order.
std::vector<std::string> Shown(const QueueFacts& facts) {
  std::vector<std::string> shown;
  for (const QueuedView& one : ViewQueue(facts, "train", kQueueNow).workloads) {
    shown.push_back((one.place ? std::to_string(*one.place) : "-") + " " + one.Name() + " " +
                    std::string(one.state) + " " +
                    (one.band ? std::string(ToString(*one.band)) : "-"));
  }
  return shown;
}

TEST(QueueViewTest, ShowsRunningAndNextWorkloadsWithReasons) {
  QueueFacts facts = MakeQueue();
  facts.workloads.push_back(MakeWorkload("c"));
  facts.workloads.back().note = RoundNote{.written = -1, .served = 50, .at = kQueueNow};
  facts.workloads.back().priority = -1;
  EXPECT_THAT(Shown(facts),
              ElementsAre("- team/a runs runs", "1 team/b waits next", "2 team/c waits waits"));
  const QueueView view = ViewQueue(facts, "train", kQueueNow);
  EXPECT_EQ(view.workloads[0].why, "its round has not ended");
  EXPECT_EQ(view.workloads[1].why, "it is next when GPUs become free");
  EXPECT_EQ(view.workloads[2].why, "other jobs are next");
  const std::string text = ToText(view);
  EXPECT_THAT(text,
              HasSubstr("Queue train: las by RoundPolicy turns, 1 GPU; 1 with quota, 2 waiting\n"));
  EXPECT_THAT(text, ContainsRegex("1 +team/b +1 +waits +next +0s +10m +0s +0 +it is next when"));
  EXPECT_THAT(ToJson(ToTree(view)), HasSubstr("\"fairShareDelaySeconds\": 600"));
}

TEST(QueueViewTest, ServiceContinuesFromTheNoteOfAWorkload) {
  const QueueFacts facts = MakeQueue();
  const RoundService had = *ViewQueue(facts, "train", kQueueNow).workloads[0].service;
  EXPECT_EQ(had.served, 330);
  EXPECT_EQ(had.delays.fair_share, Seconds(90));
  EXPECT_EQ(had.delays.fragmentation, Seconds(10));
  EXPECT_EQ(had.lost_turns, 2U);
}

TEST(QueueViewTest, WorkloadWithoutANodeIsUnplaced) {
  QueueFacts facts = MakeQueue();
  facts.pods[0].has_node = facts.pods[0].running = false;
  EXPECT_THAT(Shown(facts), ElementsAre("- team/a unplaced runs", "1 team/b waits next"));
  const QueuedView view = ViewQueue(facts, "train", kQueueNow).workloads[0];
  EXPECT_THAT(view.unplaced, ElementsAre("a-0"));
  EXPECT_EQ(view.service->delays.fragmentation, Seconds(40));
  facts.pods.clear();
  EXPECT_EQ(ViewQueue(facts, "train", kQueueNow).workloads[0].state, "starts");
}

TEST(QueueViewTest, ShowsABandThatIsNotWrittenYet) {
  QueueFacts facts = MakeQueue();
  facts.workloads.pop_back();
  EXPECT_EQ(ViewQueue(facts, "train", kQueueNow).workloads[0].why,
            "its next band is runs: it has its turn");
}

TEST(QueueViewTest, StoppedWorkloadHasNoPlace) {
  QueueFacts facts = MakeQueue();
  facts.workloads[0].active = false;
  EXPECT_THAT(Shown(facts), ElementsAre("- team/a runs runs", "- team/b stopped next"));
}

TEST(QueueViewTest, ShowsKueuesOrderIfNoPolicyOrdersTheQueue) {
  QueueFacts facts = MakeQueue();
  facts.policies[0].status.queues[0] = {
      .name = "train", .ready = false, .message = "it has no quota of GPUs", .up_next = {}};
  EXPECT_THAT(Shown(facts), ElementsAre("- team/a runs -", "- team/b waits -"));
  EXPECT_THAT(ToText(ViewQueue(facts, "train", kQueueNow)),
              HasSubstr("not ordered: it has no quota of GPUs\n"));
  facts.policies[0].status.queues.clear();
  EXPECT_THAT(ViewQueue(facts, "train", kQueueNow).problem, HasSubstr("has not checked"));
  facts.policies.clear();
  const QueueView view = ViewQueue(facts, "train", kQueueNow);
  EXPECT_FALSE(view.workloads[1].service) << "nobody counts";
  EXPECT_THAT(ToText(view), HasSubstr("Queue train: no RoundPolicy orders it, 1 GPU"));
  EXPECT_THAT(ViewOrderedQueues(facts, kQueueNow), IsEmpty());
}

TEST(QueueViewTest, ShowsGpuTypesAndWorkloadsThatWaitForOne) {
  QueueFacts facts = MakeQueue();
  facts.policies[0].settings.policy = "las";
  facts.policies[0].settings.gpu_types = GpuTypes::kAware;
  facts.policies[0].status.queues[0].up_next = {"team/job-held-12ab", "team/job-b-12ab"};
  facts.workloads.push_back(MakeRunning("held"));
  facts.workloads.push_back(MakeWorkload("last"));
  facts.workloads[3].note = RoundNote{.written = -1, .at = kQueueNow};
  facts.workloads[3].priority = -1;
  for (Workload& workload : facts.workloads)
    workload.checks = {{"synergy-rounds", "Pending", "", "", {}}};
  facts.workloads[1].checks = {{"synergy-rounds", "Ready", "K80", "its turn is on K80", {}}};
  EXPECT_THAT(Shown(facts), ElementsAre("- team/a runs runs", "1 team/held waits runs",
                                        "2 team/b waits next", "- team/last waits waits"));
  const QueueView view = ViewQueue(facts, "train", kQueueNow);
  EXPECT_EQ(view.running, 1U) << "one with its quota waits all the same";
  EXPECT_EQ(view.workloads[1].service->delays.fair_share, Seconds(120));
  EXPECT_EQ(view.workloads[1].Why(), "it has its turn, but waits for room on its GPU type");
  EXPECT_EQ(view.workloads[2].Why(), "it waits for its quota, or for its turn on a GPU type");
  EXPECT_EQ(view.workloads[3].Why(), "it waits for its turn");
  const std::string text = ToText(view);
  EXPECT_THAT(text, HasSubstr("JOB        GPU  GPU TYPE  STATE"));
  EXPECT_THAT(text, ContainsRegex("- +team/a +1 +K80 +runs +runs .* its turn is on K80\n"));
  EXPECT_THAT(text, ContainsRegex("1 +team/held +1 +- +waits +runs "));
  EXPECT_THAT(ToJson(ToTree(view)), HasSubstr("\"gpuProduct\": \"K80\""));
  facts.all_namespaces = false;
  EXPECT_THAT(Shown(facts), Contains("- team/b waits next"));
}

TEST(QueueViewTest, WithoutTheQuotaNobodysPlaceIsKnown) {
  QueueFacts facts = MakeQueue();
  facts.cluster_queues.clear();
  EXPECT_THAT(Shown(facts), ElementsAre("- team/a runs runs", "- team/b waits next"));
  EXPECT_THAT(ToText(ViewQueue(facts, "train", kQueueNow)),
              HasSubstr("Queue train: las by RoundPolicy turns; 1 with quota"));
}

TEST(QueueViewTest, AmongSomeNamespacesNobodysPlaceIsKnown) {
  QueueFacts facts = MakeQueue();
  facts.all_namespaces = false;
  EXPECT_THAT(Shown(facts), ElementsAre("- team/a runs runs", "- team/b waits next"));
  EXPECT_EQ(ViewQueue(facts, "train", kQueueNow).workloads[0].service->served, 330);
}

TEST(QueueViewTest, TheOlderOfTwoPoliciesHasTheQueue) {
  QueueFacts facts = MakeQueue();
  facts.policies.push_back(facts.policies[0]);
  facts.policies[0].created = kQueueNow;
  facts.policies[1].name = "older";
  EXPECT_EQ(ViewQueue(facts, "train", kQueueNow).round_policy, "older");
  EXPECT_EQ(ViewOrderedQueues(facts, kQueueNow).size(), 1U);
}

TEST(QueueViewTest, AQueueIsKnownByWhateverNamesIt) {
  QueueFacts facts = MakeQueue();
  EXPECT_TRUE(HasQueue(facts, "train"));
  EXPECT_FALSE(HasQueue(facts, "q"));
  facts.cluster_queues.clear();
  EXPECT_TRUE(HasQueue(facts, "train"));
}

}  // namespace
}  // namespace synergy::cli::testing
