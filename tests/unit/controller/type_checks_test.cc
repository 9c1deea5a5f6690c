#include "controller/queues/type_checks.h"

#include <chrono>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/queues/rounds_driver.h"
#include "support/cluster_vocabulary.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"

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

// Kueue, kube-scheduler and the kubelet in one: what is Ready runs at once on the product that it
// names, and what is to be tried again is evicted, and has its quota back a moment later.
class FakeKueue final : public kube::RoundApi {
 public:
  FakeKueue(RoundObjects& objects, ClusterState& state, const Clock& clock)
      : objects_(objects), state_(state), clock_(clock) {}

  std::vector<std::string> answers;    // "a Ready V100"
  std::vector<std::string> activated;  // checks
  std::map<std::string, std::string> problems;
  bool conflicts = false;

  Result<> WritePriority(const Workload& workload, int64_t priority,
                         const std::optional<RoundNote>& note, std::stop_token) override {
    Workload changed = *objects_.workloads.Find(workload.Key());
    changed.priority = priority;
    changed.note = note;
    Put(std::move(changed));
    return {};
  }
  Result<> WriteNote(const Workload& workload, const RoundNote& note,
                     std::stop_token stop) override {
    return WritePriority(workload, workload.priority, note, std::move(stop));
  }
  Result<> WriteWorkers(const QueuedJob&, int64_t, std::stop_token) override { return {}; }
  Result<> WriteStatus(const RoundPolicy&, const RoundPolicyStatus& status,
                       std::stop_token) override {
    for (const auto& queue : status.queues) problems[queue.name] = queue.message;
    return {};
  }
  Result<> AnswerCheck(const Workload& workload, size_t check, const CheckAnswer& answer,
                       std::stop_token) override {
    answers.push_back(
        fmt::format("{} {} {}", workload.name, ToString(answer.word), answer.product));
    if (conflicts) return Fail(ErrorCode::kConflict, "changed meanwhile");
    Workload changed = *objects_.workloads.Find(workload.Key());
    changed.checks[check] = {kCheck, std::string(ToString(answer.word)), answer.product,
                             answer.message, clock_.WallNow()};
    if (answer.word == CheckWord::kReady)
      Start(changed, answer.product.empty() ? "K80" : answer.product);
    if (answer.word == CheckWord::kRetry) {
      Stop(changed);
      changed.checks[check].state = "Pending";
      changed.checks[check].product.clear();
      changed.quota_since = clock_.WallNow();
    }
    Put(std::move(changed));
    return {};
  }
  Result<> ActivateCheck(const QueuePart& check, WallTime, std::stop_token) override {
    activated.push_back(check.name);
    QueuePart changed = check;
    changed.active = true;
    objects_.checks.Upsert(changed);
    return {};
  }

  void Put(Workload workload) {
    workload.resource_version += "+";
    objects_.workloads.Upsert(std::move(workload));
  }
  void Start(const Workload& workload, const std::string& product) {
    Pod pod;
    pod.uid = pod.name = workload.name + "-0";
    pod.pod_namespace = workload.workload_namespace;
    pod.node = product;
    pod.requests.main.gpus = workload.gpus;
    state_.UpsertPod(pod);
    objects_.pods.Upsert({.uid = pod.uid,
                          .pod_namespace = pod.pod_namespace,
                          .name = pod.name,
                          .workload = workload.name,
                          .has_gpus = true,
                          .has_node = true,
                          .node = product,
                          .running = true,
                          .since = clock_.WallNow()});
  }
  void Stop(const Workload& workload) {
    state_.RemovePod(workload.name + "-0");
    if (const auto pod = objects_.pods.Find(workload.name + "-0")) objects_.pods.Remove(*pod);
  }

 private:
  RoundObjects& objects_;
  ClusterState& state_;
  const Clock& clock_;
};

struct HeardEvents final : kube::EventRecorder {
  std::vector<std::string> heard;  // "SynergyTypeChanged a: from ..."
  void Record(kube::EventRecord event) override {
    heard.push_back(fmt::format("{} {}: {}", event.reason, event.pod_name, event.message));
  }
  uint64_t dropped() const override { return 0; }
};

class TypeChecksTest : public ::testing::Test {
 protected:
  TypeChecksTest() {
    // The first moment of a round.
    clock.SetWall(WallTime(std::chrono::hours(500'000)));
    for (const char* product : {"V100", "P100", "K80"}) {
      Node node = synergy::testing::MakeNode(product, {Gpus(1), Cores(4), GB(40)});
      node.gpu_kinds.products = {product};
      state.UpsertNode(node);
    }
    for (const auto& [workload, speeds] : std::map<std::string, std::vector<double>>{
             {"steep", {4, 2, 1}}, {"flat", {2, 1.9, 1.8}}}) {
      const std::vector<std::string> products = {"V100", "P100", "K80"};
      for (size_t type = 0; type < products.size(); ++type) {
        ProfileObject profile;
        profile.uid = profile.name = workload + products[type];
        profile.profile_namespace = "team";
        profile.workload = workload;
        profile.training.gpu_product = products[type];
        profile.profile = std::make_shared<const JobProfile>(
            *JobProfile::Create(Gpus(1), {{Cores(1), GB(1), speeds[type]}}));
        profiles.Upsert(profile);
      }
    }
    objects.flavors.Upsert({.name = "gpus"});
    objects.checks.Upsert({.name = kCheck, .controller = std::string(kTypeCheckController)});
    ClusterQueue queue;
    queue.name = "train";
    queue.quota = Gpus(3);
    queue.flavors = {"gpus"};
    queue.checks = {kCheck};
    queue.preemption = "LowerPriority";
    objects.cluster_queues.Upsert(queue);
    objects.local_queues.Upsert({.queue_namespace = "team", .name = "q", .cluster_queue = "train"});
    Use("gavel-las");
    driver.StartOver();
  }

  void Use(const std::string& name) {
    RoundPolicy policy;
    policy.uid = policy.name = "policy";
    policy.cluster_queues = {"train"};
    policy.settings.policy = name;
    policy.settings.given_order = name.starts_with("gavel-");
    policy.settings.least_run = seconds(10);
    policy.settings.restart_cost = seconds(30);
    objects.policies.Upsert(policy);
  }
  // With its quota.
  void Add(const std::string& name, const std::string& alike) {
    Workload workload;
    workload.uid = workload.name = name;
    workload.workload_namespace = "team";
    workload.local_queue = "q";
    workload.resource_version = "1";
    workload.pods = 1;
    workload.gpus = workload.pod_gpus = Gpus(1);
    workload.gpu_sets = {"main"};
    workload.alike = alike;
    workload.may_lose_turn = true;
    workload.created = workload.quota_since = clock.WallNow();
    workload.has_quota = true;
    workload.checks = {{kCheck, "Pending", "", "", clock.WallNow()}};
    objects.workloads.Upsert(workload);
  }
  Workload Now(const std::string& name) { return *objects.workloads.Find("team/" + name); }
  void Change(const std::string& name, auto change) {
    Workload workload = Now(name);
    change(workload);
    kueue.Put(std::move(workload));
  }
  void End(const std::string& name) {
    kueue.Stop(Now(name));
    objects.workloads.Remove(Now(name));
  }
  // As whoever leads does it.
  std::vector<std::string> Lead() {
    kueue.answers.clear();
    driver.Step({});
    checks.Step(&driver.turns(), clock.Now(), {});
    return kueue.answers;
  }
  std::vector<std::string> LeadFor(Duration duration) {
    std::vector<std::string> all;
    for (Duration passed{}; passed < duration; passed += seconds(1)) {
      clock.Advance(seconds(1));
      for (std::string& answer : Lead()) all.push_back(std::move(answer));
    }
    return all;
  }
  // As others do it, to whom somebody has led until `led`.
  std::vector<std::string> Follow(Instant led) {
    kueue.answers.clear();
    checks.Step(nullptr, led, {});
    return kueue.answers;
  }

  synergy::testing::FakeClock clock;
  synergy::testing::SilentLog log;
  ClusterState state;
  ProfileStore profiles{0.1};
  RoundObjects objects;
  FakeKueue kueue{objects, state, clock};
  HeardEvents events;
  metrics::RoundMetrics metrics;
  TypeFacts facts{state, profiles, [](Gpus gpus, const std::string&) {
                    return std::optional(ResourceVector{gpus, Cores(4), GB(40)});
                  }};
  RoundsDriver driver{objects,
                      kueue,
                      events,
                      [](const std::string&) { return std::optional<PodProgress>(); },
                      [](const std::string&, const std::string&) { return false; },
                      facts,
                      clock,
                      log.log,
                      metrics};
  TypeChecks checks{objects, kueue, events, seconds(30), clock, log.log, metrics};
};

TEST_F(TypeChecksTest, EachStartsOnTheTypeOnWhichItIsWorthMost) {
  EXPECT_THAT(Lead(), IsEmpty()) << "the policy is there before the jobs";
  Add("a", "flat");
  Add("b", "steep");
  Add("c", "flat");
  EXPECT_THAT(Lead(),
              UnorderedElementsAre("b Ready V100", HasSubstr("a Ready "), HasSubstr("c Ready ")));
  EXPECT_THAT(Now("b").checks[0].message, HasSubstr("V100 4, P100 2, K80 1"));
  EXPECT_THAT(LeadFor(seconds(900)), IsEmpty()) << "nobody moves for nothing";
}

TEST_F(TypeChecksTest, ATypeThatTheUserNamesIsTheOnlyOne) {
  Add("a", "steep");
  Change("a", [](Workload& workload) { workload.products = {"K80"}; });
  EXPECT_THAT(Lead(), ElementsAre("a Ready K80"));
  EXPECT_THAT(LeadFor(seconds(900)), IsEmpty());
}

TEST_F(TypeChecksTest, AJobMovesWhereThatPaysAsARoundBegins) {
  Add("holder", "steep");
  Change("holder", [](Workload& workload) {
    workload.products = {"V100"};
    workload.may_lose_turn = false;
  });
  Lead();
  Add("a", "steep");
  EXPECT_THAT(Lead(), ElementsAre("a Ready P100"));
  EXPECT_THAT(LeadFor(seconds(400)), IsEmpty()) << "the other one does not checkpoint";
  End("holder");
  EXPECT_THAT(LeadFor(seconds(199)), IsEmpty());
  EXPECT_THAT(LeadFor(seconds(3)), ElementsAre("a Retry ", "a Ready V100"));
  EXPECT_THAT(Now("a").checks[0].message, HasSubstr("its turn is on V100"));
  EXPECT_THAT(events.heard, ElementsAre("SynergyTypeChanged a: from P100 to V100; speeds: V100 4, "
                                        "P100 2, K80 1; it goes on from its checkpoint"));
}

TEST_F(TypeChecksTest, WhoWaitsForItsTypeStartsWhenThereIsRoom) {
  Add("a", "steep");
  Add("b", "steep");
  for (const char* name : {"a", "b"})
    Change(name, [](Workload& workload) { workload.products = {"V100"}; });
  EXPECT_THAT(Lead(), ElementsAre("a Ready V100"));
  EXPECT_THAT(LeadFor(seconds(299)), IsEmpty()) << "within the round";
  EXPECT_THAT(LeadFor(seconds(3)), ElementsAre("a Retry ", "b Ready V100")) << "in turns";
  EXPECT_GT(Now("b").note->fair_share_delay, 298);
  EXPECT_THAT(events.heard, ElementsAre("SynergyTypeChanged a: from V100 to none: others have "
                                        "their turn there; it goes on from its checkpoint later"));
}

TEST_F(TypeChecksTest, WhoLosesItsTurnAltogetherIsToldOnce) {
  Add("a", "steep");
  Add("b", "steep");
  for (const char* name : {"a", "b"})
    Change(name, [](Workload& workload) { workload.products = {"V100"}; });
  EXPECT_THAT(Lead(), ElementsAre("a Ready V100"));
  ClusterQueue queue = *objects.cluster_queues.Find("train");
  queue.quota = Gpus(1);
  objects.cluster_queues.Upsert(queue);
  EXPECT_THAT(LeadFor(seconds(303)), ElementsAre("a Retry ", "b Ready V100"));
  EXPECT_THAT(events.heard, ElementsAre(HasSubstr("SynergyTurnLost a: its turn goes to b")));
}

TEST_F(TypeChecksTest, WhatIsNotWrittenIsNotTold) {
  Add("holder", "steep");
  Change("holder", [](Workload& workload) { workload.products = {"V100"}; });
  Lead();
  Add("a", "steep");
  Lead();
  End("holder");
  kueue.conflicts = true;
  EXPECT_THAT(LeadFor(seconds(303)), Contains("a Retry "));
  EXPECT_THAT(events.heard, IsEmpty());
}

TEST_F(TypeChecksTest, WhatIsNotDecidedStartsAfterAWhile) {
  Follow(clock.Now());
  Add("a", "steep");
  const Instant led = clock.Now();
  clock.Advance(seconds(29));
  EXPECT_THAT(Follow(led), IsEmpty());
  EXPECT_THAT(Follow(clock.Now()), IsEmpty()) << "somebody leads";
  clock.Advance(seconds(1));
  EXPECT_THAT(Follow(led), ElementsAre("a Ready "));
}

TEST_F(TypeChecksTest, WhoeverHasJustBegunHasNotHeardSilence) {
  Add("a", "steep");
  clock.Advance(std::chrono::hours(1));
  EXPECT_THAT(Follow(Instant{}), IsEmpty());
  clock.Advance(seconds(30));
  EXPECT_THAT(Follow(Instant{}), ElementsAre("a Ready "));
}

TEST_F(TypeChecksTest, OtherPoliciesKeepNobodyWaiting) {
  Use("las");
  Add("a", "steep");
  EXPECT_THAT(Follow(clock.Now()), ElementsAre("a Ready "));
}

TEST_F(TypeChecksTest, WhatAPolicyCannotDoWithoutIsSaidAndJobsStartAllTheSame) {
  Use("gavel-cost");
  Add("a", "steep");
  EXPECT_THAT(LeadFor(seconds(29)), IsEmpty());
  EXPECT_THAT(kueue.problems["train"], HasSubstr("spec.prices: "));
  EXPECT_THAT(LeadFor(seconds(2)), ElementsAre("a Ready "));
}

TEST_F(TypeChecksTest, ADeadlineThatCannotBeKeptIsSaid) {
  Use("gavel-cost");
  RoundPolicy policy = *objects.policies.Find("policy");
  policy.prices = {{"V100", 4}, {"P100", 1.5}, {"K80", 0.5}};
  objects.policies.Upsert(policy);
  Add("far", "steep");
  Add("near", "steep");
  Add("lost", "steep");
  // Each needs an hour on a V100, for want of progress.
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
  EXPECT_THAT(Now("lost").checks[0].message, HasSubstr("P100 2; its deadline is in danger"));
  EXPECT_THAT(Now("near").checks[0].message, Not(HasSubstr("deadline")));
  EXPECT_THAT(Now("far").checks[0].message, Not(HasSubstr("deadline")));
}

TEST_F(TypeChecksTest, TheCheckIsSaidToBeAnsweredOnce) {
  Follow(clock.Now());
  Follow(clock.Now());
  EXPECT_THAT(kueue.activated, ElementsAre(kCheck));
}

TEST_F(TypeChecksTest, AnAnswerIsTakenBackWhereTheQuotaIsLost) {
  Add("a", "steep");
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

TEST_F(TypeChecksTest, WhatHasChangedMeanwhileIsAnsweredAsItIsByThen) {
  Add("a", "steep");
  kueue.conflicts = true;
  EXPECT_THAT(Lead(), ElementsAre("a Ready V100"));
  kueue.conflicts = false;
  EXPECT_THAT(LeadFor(seconds(1)), ElementsAre("a Ready V100"));
}

TEST_F(TypeChecksTest, AnotherLeaderLeavesThoseThatRunWhereTheyAre) {
  Add("a", "flat");
  Add("b", "flat");
  Lead();
  driver.StartOver();
  EXPECT_THAT(LeadFor(seconds(200)), IsEmpty());
}

TEST_F(TypeChecksTest, OneWithoutTheCheckIsRefused) {
  ClusterQueue queue = *objects.cluster_queues.Find("train");
  queue.checks.clear();
  objects.cluster_queues.Upsert(queue);
  EXPECT_THAT(JudgePolicies(objects).front().queues.at("train").problem,
              HasSubstr("add synergy-rounds to admissionChecksStrategy"));
  queue.checks = {kCheck};
  objects.cluster_queues.Upsert(queue);
  objects.flavors.Upsert({.name = "gpus", .product = "V100"});
  EXPECT_THAT(JudgePolicies(objects).front().queues.at("train").problem,
              HasSubstr("flavor gpus names the GPU product V100"));
}

TEST_F(TypeChecksTest, OnePolicyAloneChoosesTypes) {
  RoundPolicy second = *objects.policies.Find("policy");
  second.uid = second.name = "second";
  second.cluster_queues = {"other"};
  objects.policies.Upsert(second);
  EXPECT_THAT(JudgePolicies(objects)[1].problem, HasSubstr("RoundPolicy policy chooses GPU types"));
}

}  // namespace
}  // namespace synergy::controller
