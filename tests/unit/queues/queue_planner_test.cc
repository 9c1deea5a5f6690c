#include "queues/planner/queue_planner.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queues/planner/type_chooser.h"

namespace synergy {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Tests the ClusterQueue "train" of 4 GPUs. Writes take effect at once.
class QueuePlannerTest : public ::testing::Test {
 protected:
  explicit QueuePlannerTest(const std::string& policy_name = "las") {
    objects_.flavors.Upsert({.name = "gpus"});
    AddQueue("train", 4);
    RoundPolicy policy;
    policy.uid = policy.name = "policy";
    policy.settings.policy = policy_name;
    policy.cluster_queues = {"train"};
    objects_.policies.Upsert(policy);
    planner_.StartOver();
  }

  void AddQueue(const std::string& name, int64_t quota, const std::string& cohort = "") {
    ClusterQueue queue;
    queue.name = name;
    queue.cohort = cohort;
    queue.quota = Gpus(quota);
    queue.flavors = {"gpus"};
    queue.preemption = "LowerPriority";
    objects_.cluster_queues.Upsert(queue);
    objects_.local_queues.Upsert({.queue_namespace = "team", .name = name, .cluster_queue = name});
  }
  void Change(const std::string& name, const std::function<void(Workload&)>& change) {
    Workload workload = Now(name);
    change(workload);
    objects_.workloads.Upsert(workload);
  }
  Workload Made(const std::string& name, int64_t gpus) const {
    Workload workload;
    workload.uid = workload.name = name;
    workload.workload_namespace = "team";
    workload.owner = {"batch/v1", "Job", "job-" + name, "uid of " + name};
    workload.local_queue = "train";
    workload.pods = gpus;
    workload.gpus = Gpus(gpus);
    workload.may_lose_turn = true;
    workload.created = at_.wall;
    return workload;
  }
  void Add(const Workload& workload) { objects_.workloads.Upsert(workload); }
  Workload Now(const std::string& name) { return *objects_.workloads.Find("team/" + name); }
  // Gives the workload its quota; this many of its pods run, and the others have no node.
  void Admit(const std::string& name, int64_t running) {
    Change(name, [&](Workload& workload) {
      workload.has_quota = true;
      workload.quota_since = at_.wall;
      workload.inadmissible = false;
    });
    RunPods(name, 0, running);
    const int64_t pods = Now(name).pods;
    for (int64_t pod = running; pod < pods; ++pod) PutPod(name, pod, false);
  }
  void RunPods(const std::string& name, int64_t first, int64_t end) {
    for (int64_t pod = first; pod < end; ++pod) PutPod(name, pod, true);
  }
  void PutPod(const std::string& workload, int64_t number, bool runs) {
    objects_.pods.Upsert({.uid = fmt::format("{}-{}", workload, number),
                          .pod_namespace = "team",
                          .workload = workload,
                          .has_gpus = true,
                          .gpus = Gpus(1),
                          .has_node = runs,
                          .node = runs ? "n" : "",
                          .running = runs,
                          .since = runs ? at_.wall : WallTime()});
  }

  // Plans once a second; returns the writes, refused ones with "!".
  std::vector<std::string> StepFor(Duration duration) {
    std::vector<std::string> all;
    for (Duration passed{}; passed < duration; passed += seconds(1)) {
      at_.now += seconds(1);
      at_.wall += seconds(1);
      for (std::string& each : Step()) all.push_back(std::move(each));
    }
    return all;
  }
  std::vector<std::string> Step() {
    Writer writer(*this);
    const QueuePlan plan = planner_.Plan(objects_, at_);
    for (const JobNotice& notice : plan.notices)
      notices_.push_back(notice.reason + " " + notice.workload->name + ": " + notice.message);
    QueueOutcome outcome;
    outcome.waiting_jobs.resize(plan.waiting_jobs.size());
    outcome.running_jobs.resize(plan.running_jobs.size());
    outcome.writes = WriteInOrder(plan, writer);
    planner_.OnResult(plan, outcome);
    return writer.written;
  }

  QueueObjects objects_;
  std::set<std::string> refused_;  // the names of workloads that the API server does not change
  std::vector<std::string> notices_;
  // The first moment of a round.
  Moment at_{Instant(std::chrono::hours(1)), WallTime(std::chrono::hours(500'000))};
  NoTypeChooser types_;
  QueuePlanner planner_{[](const std::string&) { return std::nullopt; },
                        [](const std::string&, const std::string&) { return false; },
                        [](const Workload&, Gpus) { return int64_t{0}; }, types_};

 private:
  class Writer final : public WorkloadWriter {
   public:
    explicit Writer(QueuePlannerTest& test) : test_(test) {}
    bool IsUnseen(const WorkloadWrite& /*write*/) override { return false; }
    bool MayWrite() override { return true; }
    WriteOutcome Write(const WorkloadWrite& write) override {
      const bool refused = test_.refused_.contains(write.workload->name);
      written.push_back(
          write.kind == WorkloadWrite::Kind::kNote
              ? fmt::format("{} served {:.0f}", write.workload->name, write.note->served)
              : fmt::format("{} {} -> {}", write.workload->name, write.workload->priority,
                            write.priority));
      if (refused) {
        written.back() += "!";
        return WriteOutcome::kRefused;
      }
      test_.Change(write.workload->name, [&](Workload& workload) {
        if (workload.priority != write.priority) workload.inadmissible = false;
        workload.priority = write.priority;
        workload.note = write.note;
      });
      return WriteOutcome::kWritten;
    }

    std::vector<std::string> written;

   private:
    QueuePlannerTest& test_;
  };
};

class FifoPlannerTest : public QueuePlannerTest {
 protected:
  FifoPlannerTest() : QueuePlannerTest("fifo") {}
};

TEST_F(QueuePlannerTest, PodsThatRunAreChargedWhileAnotherWaits) {
  Add(Made("a", 4));
  StepFor(seconds(1));
  Admit("a", 3);
  EXPECT_THAT(StepFor(seconds(299)), IsEmpty()) << "a note a second would be too many";
  StepFor(seconds(101));
  EXPECT_EQ(Now("a").note->served, 400 * 3);
  EXPECT_EQ(Now("a").note->fragmentation_delay, 400);
  PutPod("a", 3, true);
  StepFor(seconds(10));
  Change("a", [](Workload& workload) { workload.has_quota = false; });
  StepFor(seconds(1));
  EXPECT_EQ(Now("a").note->served, 400 * 3 + 10 * 4);
}

TEST_F(QueuePlannerTest, AJobWhosePodNeverRunsLosesItsTurnToOthers) {
  Add(Made("a", 4));
  StepFor(seconds(1));
  Admit("a", 3);
  StepFor(seconds(100));
  Add(Made("b", 4));
  StepFor(seconds(505));
  EXPECT_EQ(BandOf(Now("a")), Band::kNext);
  EXPECT_EQ(BandOf(Now("b")), Band::kRuns);
}

TEST_F(QueuePlannerTest, PodsThatHideAreChargedBesideOneThatWaits) {
  Add(Made("a", 4));
  StepFor(seconds(1));
  Admit("a", 0);
  for (int64_t pod = 1; pod < 4; ++pod) objects_.pods.RemoveKey(fmt::format("a-{}", pod));
  StepFor(kMostStart + seconds(100));
  Change("a", [](Workload& workload) { workload.has_quota = false; });
  StepFor(seconds(1));
  EXPECT_EQ(Now("a").note->served, 100 * 3);
}

TEST_F(QueuePlannerTest, TheServiceOfAJobPassesToTheWorkloadThatReplacesItsOwn) {
  Add(Made("a", 2));
  StepFor(seconds(1));
  Admit("a", 2);
  StepFor(seconds(500));
  // Its user deletes the workload, and Kueue makes another one.
  objects_.workloads.RemoveKey("team/a");
  for (const char* pod : {"a-0", "a-1"}) objects_.pods.RemoveKey(pod);
  StepFor(seconds(5));
  Workload other = Made("other", 2);
  other.owner = Made("a", 2).owner;
  Add(other);
  StepFor(seconds(2));
  ASSERT_TRUE(Now("other").note);
  EXPECT_EQ(Now("other").note->served, 1000);
}

TEST_F(QueuePlannerTest, ASliceHasTheServiceOfTheSliceThatItReplaces) {
  Add(Made("a", 2));
  StepFor(seconds(1));
  Admit("a", 2);
  StepFor(seconds(500));
  // The job grows from two to three workers. Kueue counts two of the three already.
  Workload larger = Made("larger", 3);
  larger.owner = Now("a").owner;
  larger.replaces = "team/a";
  larger.slice = "a";
  Add(larger);
  Add(Made("waits", 2));
  StepFor(seconds(10));
  EXPECT_EQ(BandOf(Now("a")), Band::kRuns);
  PutPod("a", 2, false);
  EXPECT_THAT(StepFor(seconds(20)), Not(Contains(StartsWith("larger served"))))
      << "its service grows every second";
  Change("a", [](Workload& workload) { workload.finished = true; });
  Change("larger", [&](Workload& workload) {
    workload.has_quota = true;
    workload.quota_since = at_.wall;
  });
  RunPods("a", 2, 3);
  StepFor(seconds(100));
  Change("larger", [](Workload& workload) { workload.has_quota = false; });
  StepFor(seconds(1));
  EXPECT_EQ(Now("larger").note->served, 530 * 2 + 100 * 3);
}

TEST_F(QueuePlannerTest, ASliceNeedsOnlyWhatItHasMoreThanTheOneThatItReplaces) {
  Add(Made("a", 2));
  StepFor(seconds(1));
  Admit("a", 2);
  Workload larger = Made("larger", 4);
  larger.owner = Now("a").owner;
  larger.replaces = "team/a";
  Add(larger);
  StepFor(seconds(2));
  EXPECT_EQ(BandOf(Now("a")), Band::kRuns);
  EXPECT_EQ(BandOf(Now("larger")), Band::kRuns);
}

TEST_F(QueuePlannerTest, AWorkloadWhosePriorityCannotBeWrittenStopsNoOther) {
  Add(Made("a", 2));
  Add(Made("b", 2));
  StepFor(seconds(1));
  Admit("a", 2);
  Admit("b", 2);
  StepFor(seconds(100));
  Add(Made("c", 2));
  Add(Made("d", 2));
  refused_ = {"a"};
  std::vector<std::string> written = StepFor(seconds(505));
  EXPECT_THAT(written, Contains("b 1 -> 0"));
  const auto raised = [this](const char* name) { return BandOf(Now(name)) == Band::kRuns; };
  EXPECT_NE(raised("c"), raised("d")) << "only the GPUs of b come free";
  // It is tried again, but not every second.
  written = StepFor(minutes(60));
  const auto tries = std::count_if(written.begin(), written.end(),
                                   [](const std::string& each) { return each.ends_with("!"); });
  EXPECT_GT(tries, 2);
  EXPECT_LT(tries, 12);
  refused_.clear();
  EXPECT_THAT(StepFor(minutes(60)), Contains(StartsWith("a ")));
}

TEST_F(QueuePlannerTest, APriorityThatCannotBeRestoredIsNotWrittenEverySecond) {
  Add(Made("a", 2));
  StepFor(seconds(1));
  objects_.policies.RemoveKey("policy");
  refused_ = {"a"};
  const size_t tries = StepFor(minutes(10)).size();
  EXPECT_GT(tries, 2U);
  EXPECT_LT(tries, 10U);
}

TEST_F(QueuePlannerTest, OthersGoBeforeAJobThatKueueDoesNotAdmitInItsTurn) {
  Add(Made("a", 4));
  StepFor(seconds(1));
  Add(Made("b", 4));
  StepFor(seconds(2));
  ASSERT_EQ(BandOf(Now("a")), Band::kRuns);
  Change("a", [](Workload& workload) { workload.inadmissible = true; });
  StepFor(seconds(9));
  EXPECT_EQ(BandOf(Now("a")), Band::kRuns);
  StepFor(seconds(5));
  EXPECT_EQ(BandOf(Now("a")), Band::kWaits);
  EXPECT_EQ(BandOf(Now("b")), Band::kRuns);
  EXPECT_THAT(notices_, ElementsAre(HasSubstr("SynergyTurnPassed a: Kueue does not admit it")));
  Admit("b", 4);
  StepFor(minutes(4));
  EXPECT_EQ(BandOf(Now("a")), Band::kWaits);
  // In another round it has its turn again.
  StepFor(minutes(6));
  EXPECT_EQ(BandOf(Now("a")), Band::kRuns);
  EXPECT_EQ(BandOf(Now("b")), Band::kNext);
}

TEST_F(QueuePlannerTest, AJobThatWaitsForGpusOfOthersKeepsItsTurn) {
  Workload leaves = Made("leaves", 2);
  leaves.note = RoundNote{.served = 1000, .at = at_.wall};
  leaves.evicted = true;
  Add(leaves);
  Admit("leaves", 2);
  Add(Made("a", 4));
  StepFor(seconds(2));
  Change("a", [](Workload& workload) { workload.inadmissible = true; });
  StepFor(seconds(120));
  EXPECT_EQ(BandOf(Now("a")), Band::kRuns) << "the pods of the other one end";
  EXPECT_THAT(notices_, IsEmpty());
}

TEST_F(QueuePlannerTest, AJobAboutWhichKueueReportsNothingKeepsItsTurn) {
  Add(Made("a", 4));
  StepFor(seconds(1));
  Add(Made("b", 4));
  StepFor(minutes(20));
  EXPECT_EQ(BandOf(Now("a")), Band::kRuns) << "Kueue may be down";
}

TEST_F(QueuePlannerTest, JobsLikeOneThatKueueDoesNotAdmitRestWithIt) {
  for (const char* name : {"a", "a-again", "b"}) {
    Workload workload = Made(name, 4);
    workload.alike = std::string(1, name[0]);
    Add(workload);
  }
  StepFor(seconds(1));
  ASSERT_EQ(BandOf(Now("a")), Band::kRuns);
  Change("a", [](Workload& workload) { workload.inadmissible = true; });
  StepFor(seconds(12));
  EXPECT_EQ(BandOf(Now("a-again")), Band::kWaits);
  EXPECT_EQ(BandOf(Now("b")), Band::kRuns);
}

// Tests the cohort of "train" and "other", with 4 GPUs each.
class CohortPlannerTest : public QueuePlannerTest {
 protected:
  CohortPlannerTest() {
    AddQueue("train", 4, "all");
    AddQueue("other", 4, "all");
    ChangePolicy([](RoundPolicy& policy) { policy.cluster_queues = {"train", "other"}; });
  }
  void ChangePolicy(const std::function<void(RoundPolicy&)>& change) {
    RoundPolicy policy = *objects_.policies.Find("policy");
    change(policy);
    objects_.policies.Upsert(policy);
  }
  void ChangeQueue(const std::string& name, const std::function<void(ClusterQueue&)>& change) {
    ClusterQueue queue = *objects_.cluster_queues.Find(name);
    change(queue);
    objects_.cluster_queues.Upsert(queue);
  }
  Workload MadeIn(const std::string& queue, const std::string& name, int64_t gpus) const {
    Workload workload = Made(name, gpus);
    workload.local_queue = queue;
    return workload;
  }
  Band BandNow(const std::string& name) { return BandOf(Now(name)); }
};

TEST_F(CohortPlannerTest, IdleGpusOfAQueueAreBorrowedInThePolicysOrder) {
  Workload served = Made("served", 8);
  served.note = RoundNote{.served = 1000, .at = at_.wall};
  Add(served);
  Add(Made("new", 8));
  StepFor(seconds(1));
  EXPECT_EQ(BandNow("new"), Band::kRuns);
  EXPECT_EQ(BandNow("served"), Band::kNext);
}

TEST_F(CohortPlannerTest, AQueueWithoutQuotaHasTurnsOnTheGpusOfItsCohort) {
  ChangeQueue("train", [](ClusterQueue& queue) { queue.quota = Gpus(0); });
  ChangeQueue("other", [](ClusterQueue& queue) { queue.quota = Gpus(0); });
  objects_.cohorts.Upsert({.name = "all", .parent = "", .quotas = {{"gpus", Gpus(4)}}});
  Workload served = Made("served", 4);
  served.note = RoundNote{.served = 1000, .at = at_.wall};
  Add(served);
  Add(MadeIn("other", "new", 4));
  StepFor(seconds(1));
  EXPECT_EQ(BandNow("new"), Band::kRuns);
  EXPECT_EQ(BandNow("served"), Band::kNext);
}

TEST_F(CohortPlannerTest, GpusThatTheLenderNeedsAreNotBorrowed) {
  Add(Made("a", 6));
  StepFor(seconds(1));
  ASSERT_EQ(BandNow("a"), Band::kRuns);
  Admit("a", 6);
  Add(MadeIn("other", "b", 3));
  StepFor(seconds(1));
  EXPECT_EQ(BandNow("a"), Band::kNext) << "Kueue may take back what the other queue lent";
  EXPECT_EQ(BandNow("b"), Band::kRuns);
}

TEST_F(CohortPlannerTest, NoTurnExceedsTheLimitsOfBorrowingAndLending) {
  ChangeQueue("train", [](ClusterQueue& queue) { queue.borrowing = Gpus(1); });
  Add(Made("large", 6));
  Add(Made("small", 5));
  StepFor(seconds(1));
  EXPECT_EQ(BandNow("large"), Band::kWaits);
  EXPECT_EQ(BandNow("small"), Band::kRuns);
  ChangeQueue("other", [](ClusterQueue& queue) { queue.lending = Gpus(0); });
  StepFor(seconds(1));
  EXPECT_EQ(BandNow("small"), Band::kWaits);
}

TEST_F(CohortPlannerTest, GpusThatAnotherQueueHasBorrowedAreNotPlanned) {
  AddQueue("lender", 4, "all");
  ChangePolicy([](RoundPolicy& policy) { policy.cluster_queues.emplace_back("lender"); });
  Add(Made("a", 8));
  StepFor(seconds(1));
  Admit("a", 8);
  StepFor(minutes(11));
  // Kueue evicts no workload of another queue so that this one can borrow.
  Add(MadeIn("other", "b", 8));
  StepFor(minutes(5));
  EXPECT_EQ(BandNow("a"), Band::kRuns);
  EXPECT_NE(BandNow("b"), Band::kRuns);
}

TEST_F(CohortPlannerTest, QueuesOfOtherFlavorsLendNothing) {
  objects_.flavors.Upsert({.name = "slow"});
  ChangeQueue("other", [](ClusterQueue& queue) { queue.flavors = {"slow"}; });
  Add(Made("a", 6));
  StepFor(seconds(1));
  EXPECT_EQ(BandNow("a"), Band::kWaits);
}

TEST_F(FifoPlannerTest, AJobThatKueueDoesNotAdmitStopsNoneBehindIt) {
  Add(Made("a", 4));
  StepFor(seconds(1));
  Add(Made("b", 4));
  StepFor(seconds(1));
  Change("a", [](Workload& workload) { workload.inadmissible = true; });
  StepFor(seconds(15));
  EXPECT_EQ(BandOf(Now("a")), Band::kWaits);
  EXPECT_EQ(BandOf(Now("b")), Band::kRuns);
}

}  // namespace
}  // namespace synergy
