#include "queues/planner/gpu_type_answers.h"

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/controller/rounds_fixture.h"

namespace synergy::controller {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr char kCheck[] = "synergy-rounds";

class GpuTypeAnswersTest : public RoundsFixture {
 protected:
  GpuTypeAnswersTest() {
    HaveThreeTypes();
    objects.checks.Upsert({.name = kCheck, .controller = std::string(kTypeCheckController)});
    ChangeQueue([](ClusterQueue& queue) {
      queue.quota = Gpus(3);
      queue.checks = {kCheck};
    });
    Use("las");
  }

  void Use(const std::string& name, GpuTypes choice = GpuTypes::kAware) {
    ChangePolicy([&](RoundPolicy& policy) {
      policy.settings.policy = name;
      policy.settings.gpu_types = choice;
      policy.settings.least_run = seconds(10);
      policy.settings.restart_cost = seconds(30);
    });
  }
  // Adds a job with its quota.
  void AddJob(const std::string& name, const std::string& alike) {
    Workload workload = MakeWorkload(name);
    workload.owner = {};
    workload.pod_gpus = workload.gpus;
    workload.gpu_sets = {"main"};
    workload.alike = alike;
    workload.quota_since = clock.WallNow();
    workload.has_quota = true;
    workload.checks = {{kCheck, "Pending", "", "", clock.WallNow()}};
    Add(workload);
  }
  void Change(const std::string& name, auto change) {
    Workload workload = Now(name);
    change(workload);
    kueue.Put(std::move(workload));
  }
  void Remove(const std::string& name) {
    kueue.Stop(Now(name));
    objects.workloads.Remove(Now(name));
  }
  // Steps as the leader.
  std::vector<std::string> Lead() {
    kueue.answers.clear();
    driver.Step({});
    driver.AnswerChecks(true, clock.Now(), {});
    return kueue.answers;
  }
  std::vector<std::string> LeadFor(Duration duration) {
    return EachSecond(duration, [this] { return Lead(); });
  }
  // Steps as a follower that last saw a leader at `led`.
  std::vector<std::string> Follow(Instant led) {
    kueue.answers.clear();
    driver.AnswerChecks(false, led, {});
    return kueue.answers;
  }
};

TEST_F(GpuTypeAnswersTest, EachStartsOnTheTypeOnWhichItIsWorthMost) {
  EXPECT_THAT(Lead(), IsEmpty()) << "the policy is there before the jobs";
  AddJob("a", "flat");
  AddJob("b", "steep");
  AddJob("c", "flat");
  EXPECT_THAT(Lead(),
              UnorderedElementsAre("b Ready V100", HasSubstr("a Ready "), HasSubstr("c Ready ")));
  EXPECT_THAT(Now("b").checks[0].message, HasSubstr("V100 4, P100 2, K80 1"));
  EXPECT_THAT(LeadFor(seconds(900)), IsEmpty()) << "nobody moves for nothing";
}

TEST_F(GpuTypeAnswersTest, ATypeThatTheUserNamesIsTheOnlyOne) {
  AddJob("a", "steep");
  Change("a", [](Workload& workload) { workload.products = {"K80"}; });
  EXPECT_THAT(Lead(), ElementsAre("a Ready K80"));
  EXPECT_THAT(LeadFor(seconds(900)), IsEmpty());
}

TEST_F(GpuTypeAnswersTest, AJobMovesWhereThatPaysAsARoundBegins) {
  AddJob("holder", "steep");
  Change("holder", [](Workload& workload) {
    workload.products = {"V100"};
    workload.may_lose_turn = false;
  });
  Lead();
  AddJob("a", "steep");
  EXPECT_THAT(Lead(), ElementsAre("a Ready P100"));
  EXPECT_THAT(LeadFor(seconds(400)), IsEmpty()) << "the other one does not checkpoint";
  Remove("holder");
  EXPECT_THAT(LeadFor(seconds(199)), IsEmpty());
  EXPECT_THAT(LeadFor(seconds(3)), ElementsAre("a Retry ", "a Ready V100"));
  EXPECT_THAT(Now("a").checks[0].message, HasSubstr("its turn is on V100"));
  EXPECT_THAT(events.lines(),
              ElementsAre("SynergyTypeChanged a: moves from P100 to V100; speeds: V100 4, P100 2, "
                          "K80 1; it continues from its checkpoint"));
}

TEST_F(GpuTypeAnswersTest, ARoundForWhichNoTypesCanBeChosenBeginsAsSoonAsTheyCan) {
  AddJob("holder", "steep");
  Change("holder", [](Workload& workload) { workload.products = {"V100"}; });
  Lead();
  AddJob("a", "steep");
  EXPECT_THAT(Lead(), ElementsAre("a Ready P100"));
  Remove("holder");
  EXPECT_THAT(LeadFor(seconds(298)), IsEmpty());
  Use("cost");  // without prices
  EXPECT_THAT(LeadFor(seconds(3)), IsEmpty());
  Use("las");
  EXPECT_THAT(LeadFor(seconds(3)), ElementsAre("a Retry ", "a Ready V100"));
}

TEST_F(GpuTypeAnswersTest, WaitingJobStartsOnItsTypeWhenItHasRoom) {
  AddJob("a", "steep");
  AddJob("b", "steep");
  for (const char* name : {"a", "b"})
    Change(name, [](Workload& workload) { workload.products = {"V100"}; });
  EXPECT_THAT(Lead(), ElementsAre("a Ready V100"));
  EXPECT_THAT(LeadFor(seconds(299)), IsEmpty()) << "within the round";
  EXPECT_THAT(LeadFor(seconds(3)), ElementsAre("a Retry ", "b Ready V100")) << "in turns";
  EXPECT_GT(Now("b").note->fair_share_delay, 298);
  EXPECT_THAT(events.lines(), ElementsAre("SynergyTypeChanged a: loses its turn on V100: another "
                                          "job is next; it continues from its checkpoint later"));
}

class GpusOnTheirWayTest : public GpuTypeAnswersTest {
 protected:
  // Four V100. The job "a", with a pod of one GPU and another of two, has three of them.
  GpusOnTheirWayTest() {
    Node node = synergy::testing::MakeNode("V100", {Gpus(4), Cores(16), GB(160)});
    node.gpu_kinds.products = {"V100"};
    node.labels = {{"nvidia.com/gpu.product", "V100"}};
    state.UpsertNode(node);
    ChangeQueue([](ClusterQueue& queue) { queue.quota = Gpus(4); });
    AddJob("a", "steep");
    Change("a", [](Workload& workload) {
      workload.pods = 2;
      workload.gpus = Gpus(3);
      workload.products = {"V100"};
      workload.may_lose_turn = false;
    });
    EXPECT_THAT(Lead(), ElementsAre("a Ready V100"));
    AddJob("b", "steep");
    Change("b", [](Workload& workload) { workload.products = {"V100"}; });
  }
};

TEST_F(GpusOnTheirWayTest, AJobIsThereWhenItsPodsHaveAllOfItsGpus) {
  EXPECT_THAT(Lead(), ElementsAre("b Ready V100"));
}

TEST_F(GpusOnTheirWayTest, AJobWhosePodsAreUnknownIsThereAfterAWhile) {
  objects.pods.Remove(*objects.pods.Find("a-0"));
  EXPECT_THAT(LeadFor(kMostStart - seconds(1)), IsEmpty());
  EXPECT_THAT(LeadFor(seconds(2)), ElementsAre("b Ready V100"));
}

TEST_F(GpusOnTheirWayTest, AJobWithAPodThatWaitsForANodeIsOnItsWay) {
  QueuedPod pod = *objects.pods.Find("a-0");
  pod.gpus = Gpus(1);
  objects.pods.Upsert(pod);
  pod.uid = "a-1";
  pod.gpus = Gpus(2);
  pod.has_node = false;
  objects.pods.Upsert(pod);
  EXPECT_THAT(LeadFor(kMostStart + seconds(2)), IsEmpty());
}

TEST_F(GpuTypeAnswersTest, JobThatLosesItsTurnGetsOneEvent) {
  AddJob("a", "steep");
  AddJob("b", "steep");
  for (const char* name : {"a", "b"})
    Change(name, [](Workload& workload) { workload.products = {"V100"}; });
  EXPECT_THAT(Lead(), ElementsAre("a Ready V100"));
  ChangeQueue([](ClusterQueue& queue) { queue.quota = Gpus(1); });
  EXPECT_THAT(LeadFor(seconds(303)), ElementsAre("a Retry ", "b Ready V100"));
  EXPECT_THAT(events.lines(), ElementsAre(HasSubstr("SynergyTurnLost a: its turn ends; next: b")));
}

TEST_F(GpuTypeAnswersTest, FailedWriteEmitsNoEvent) {
  AddJob("holder", "steep");
  Change("holder", [](Workload& workload) { workload.products = {"V100"}; });
  Lead();
  AddJob("a", "steep");
  Lead();
  Remove("holder");
  kueue.conflicts = true;
  EXPECT_THAT(LeadFor(seconds(303)), Contains("a Retry "));
  EXPECT_THAT(events.lines(), IsEmpty());
}

TEST_F(GpuTypeAnswersTest, UndecidedJobStartsAfterATimeout) {
  Follow(clock.Now());
  AddJob("a", "steep");
  const Instant led = clock.Now();
  clock.Advance(seconds(29));
  EXPECT_THAT(Follow(led), IsEmpty());
  EXPECT_THAT(Follow(clock.Now()), IsEmpty()) << "somebody leads";
  clock.Advance(seconds(1));
  EXPECT_THAT(Follow(led), ElementsAre("a Ready "));
}

TEST_F(GpuTypeAnswersTest, NewFollowerWaitsBeforeItAssumesSilence) {
  AddJob("a", "steep");
  clock.Advance(std::chrono::hours(1));
  EXPECT_THAT(Follow(Instant{}), IsEmpty());
  clock.Advance(seconds(30));
  EXPECT_THAT(Follow(Instant{}), ElementsAre("a Ready "));
}

TEST_F(GpuTypeAnswersTest, PoliciesWithoutTypesDelayNoJob) {
  Use("las", GpuTypes::kNone);
  AddJob("a", "steep");
  EXPECT_THAT(Follow(clock.Now()), ElementsAre("a Ready "));
}

TEST_F(GpuTypeAnswersTest, ReportsMissingInputOfAPolicyAndStartsJobsAnyway) {
  Use("cost");
  AddJob("a", "steep");
  EXPECT_THAT(LeadFor(seconds(29)), IsEmpty());
  EXPECT_THAT(kueue.statuses.at("policy").queues.at(0).message, HasSubstr("spec.prices: "));
  EXPECT_THAT(LeadFor(seconds(2)), ElementsAre("a Ready "));
}

TEST_F(GpuTypeAnswersTest, ReportsADeadlineThatCannotBeMet) {
  Use("cost");
  ChangePolicy(
      [](RoundPolicy& policy) { policy.prices = {{"V100", 4}, {"P100", 1.5}, {"K80", 0.5}}; });
  AddJob("far", "steep");
  AddJob("near", "steep");
  AddJob("lost", "steep");
  // Each job counts as needing an hour on a V100, because it reports no progress.
  for (const auto& [name, left] : std::map<std::string, int>{{"far", 900}, {"near", 65}}) {
    Change(name, [&](Workload& workload) {
      workload.deadline = clock.WallNow() + std::chrono::minutes(left);
    });
  }
  Change("lost", [&](Workload& workload) {
    workload.products = {"P100"};
    workload.deadline = clock.WallNow() + std::chrono::minutes(50);
  });
  EXPECT_THAT(Lead(), UnorderedElementsAre("near Ready V100", "lost Ready P100", "far Ready K80"));
  EXPECT_THAT(Now("lost").checks[0].message, HasSubstr("P100 2; it may miss its deadline"));
  EXPECT_THAT(Now("near").checks[0].message, Not(HasSubstr("deadline")));
  EXPECT_THAT(Now("far").checks[0].message, Not(HasSubstr("deadline")));
}

TEST_F(GpuTypeAnswersTest, OneThatLeadsNoLongerWritesNothing) {
  AddJob("a", "steep");
  leads = false;
  EXPECT_THAT(Lead(), IsEmpty());
  EXPECT_THAT(kueue.written, IsEmpty());
  EXPECT_TRUE(kueue.statuses.empty());
  leads = true;
  EXPECT_THAT(Lead(), ElementsAre("a Ready V100"));
}

TEST_F(GpuTypeAnswersTest, ActivatesTheCheckOnce) {
  Follow(clock.Now());
  Follow(clock.Now());
  EXPECT_THAT(kueue.activated, ElementsAre(kCheck));
}

TEST_F(GpuTypeAnswersTest, AnAnswerIsTakenBackWhereTheQuotaIsLost) {
  AddJob("a", "steep");
  Lead();
  kueue.Stop(Now("a"));
  Change("a", [this](Workload& workload) {
    workload.has_quota = false;
    workload.quota_since = clock.WallNow();
    workload.checks[0].state = "Retry";
  });
  EXPECT_THAT(LeadFor(seconds(2)), IsEmpty()) << "Kueue does so itself";
  EXPECT_THAT(LeadFor(seconds(2)), ElementsAre("a Pending "));
}

TEST_F(GpuTypeAnswersTest, AnswersAChangedWorkloadFromItsLatestState) {
  AddJob("a", "steep");
  kueue.conflicts = true;
  EXPECT_THAT(Lead(), ElementsAre("a Ready V100"));
  kueue.conflicts = false;
  EXPECT_THAT(LeadFor(seconds(1)), ElementsAre("a Ready V100"));
}

TEST_F(GpuTypeAnswersTest, AnotherLeaderLeavesThoseThatRunWhereTheyAre) {
  AddJob("a", "flat");
  AddJob("b", "flat");
  Lead();
  driver.StartOver();
  EXPECT_THAT(LeadFor(seconds(200)), IsEmpty());
}

TEST_F(GpuTypeAnswersTest, OneWithoutTheCheckIsRefused) {
  ChangeQueue([](ClusterQueue& queue) { queue.checks.clear(); });
  EXPECT_THAT(JudgePolicies(objects.Snapshot()).front().queues.at("train").problem,
              HasSubstr("add synergy-rounds to admissionChecksStrategy"));
  ChangeQueue([](ClusterQueue& queue) { queue.checks = {kCheck}; });
  objects.flavors.Upsert({.name = "gpus", .product = "V100"});
  EXPECT_THAT(JudgePolicies(objects.Snapshot()).front().queues.at("train").problem,
              HasSubstr("flavor gpus names the GPU product V100"));
}

TEST_F(GpuTypeAnswersTest, OnePolicyAloneChoosesTypes) {
  RoundPolicy second = *objects.policies.Find("policy");
  second.uid = second.name = "second";
  second.cluster_queues = {"other"};
  objects.policies.Upsert(second);
  EXPECT_THAT(JudgePolicies(objects.Snapshot())[1].problem,
              HasSubstr("RoundPolicy policy chooses GPU types"));
}

}  // namespace
}  // namespace synergy::controller
