#include "controller/tuner/turns/turns_driver.h"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/fake_pod_api.h"
#include "support/managed_pods.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"
#include "unit/controller/fake_profile_api.h"

namespace synergy::controller {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class TurnsDriverTest : public ::testing::Test {
 protected:
  TurnsDriverTest() {
    Node node = testing::NodeOfFour("n1");
    node.allocatable.other.Set("nvidia.com/gpu.turns", 8);
    state_.UpsertNode(node);
  }

  // Adds a pod whose agent reports that it has `gpu`, and trains.
  void Have(const std::string& name, const std::string& gpu = "GPU-0") {
    Pod pod = testing::ManagedPod(name, "n1", 3, "");
    pod.requests.other.Set("nvidia.com/gpu.turns", 1);
    pods_.Put(std::move(pod));
    state_.UpsertPod(pods_.pod(name));
    reports_[name] = {.uid = pods_.pod(name).uid, .pod_namespace = "team", .name = name};
    reports_[name].format = "tqdm";
    reports_[name].iterations = 1;
    reports_[name].turn = TurnReading{.gpus = {gpu}};
  }
  void Remove(const std::string& name) {
    state_.RemovePod(pods_.pod(name).uid);
    reports_.erase(name);
  }
  void Step() {
    clock_.Advance(seconds(2));
    std::vector<PodProgress> reported;
    for (const auto& [name, report] : reports_) reported.push_back(report);
    store_.Observe("n1", {}, std::move(reported), clock_.Present());
    driver_.Step({});
  }
  // The API server answers nothing about pods whose names begin so.
  void GoDown(const std::string& names) {
    pods_.before_call = [names](std::string_view call) -> Result<> {
      if (call.find(' ' + names) == std::string_view::npos) return {};
      return Fail(ErrorCode::kUnavailable, "down");
    };
  }
  bool Renews() const { return renewal_.Holds(clock_.Now()); }
  bool HasTurn(const std::string& name) { return pods_.pod(name).fungible->turn.has_value(); }

  testing::FakeClock clock_;
  testing::SilentLog log_;
  ClusterState state_;
  testing::FakePodApi pods_;
  testing::RecordedEvents events_;
  std::map<std::string, PodProgress> reports_;
  ProgressStore store_;
  TurnRenewal renewal_;
  bool may_act_ = true;
  metrics::TurnMetrics metrics_;
  ProfileStore profiles_{0.05};
  FakeProfileApi profile_api_{profiles_};
  PackResultKeeper results_{profiles_, profile_api_, [this] { return may_act_; },
                            clock_,    log_.log,     metrics_};
  TurnsDriver driver_{
      {.gpu_resource = "nvidia.com/gpu"}, state_, store_,   pods_,   results_, events_, renewal_,
      [this] { return may_act_; },        clock_, log_.log, metrics_};
};

TEST_F(TurnsDriverTest, SharersGetTurnsAndOneEvent) {
  Have("a");
  Have("b");
  Have("alone", "GPU-1");
  for (int step = 0; step < 30; ++step) Step();
  EXPECT_THAT(pods_.calls(),
              ElementsAre("annotate a synergy.io/turn", "annotate b synergy.io/turn"));
  EXPECT_THAT(events_.reasons(), UnorderedElementsAre("SynergyTurns a", "SynergyTurns b"));
  EXPECT_THAT(events_.lines().front(),
              HasSubstr("with team/b: it runs for 60 s, and is suspended for 60 s"));
  EXPECT_TRUE(Renews());
  EXPECT_THAT(metrics_.Render(), HasSubstr(R"(synergy_turns_pods{state="in_turns"} 2)"));
}

TEST_F(TurnsDriverTest, TheLastSharerLosesItsAnnotation) {
  Have("a");
  Have("b");
  Step();
  Remove("b");
  Step();
  EXPECT_FALSE(HasTurn("a"));
  EXPECT_THAT(events_.lines().back(), HasSubstr("no longer takes turns"));
}

TEST_F(TurnsDriverTest, TurnsAreNotRenewedUntilAllAreWritten) {
  Have("a");
  Have("b");
  GoDown("b");
  Step();
  EXPECT_FALSE(Renews());
  EXPECT_THAT(metrics_.Render(), HasSubstr(R"(synergy_turns_plans_total{outcome="incomplete"} 1)"));
  pods_.before_call = [](std::string_view) { return Result<>(); };
  Step();
  EXPECT_TRUE(Renews());
  EXPECT_TRUE(HasTurn("b"));
}

TEST_F(TurnsDriverTest, APodThatCannotBeWrittenDoesNotEndTheTurnsOfOthers) {
  Have("a");
  Have("b");
  for (const ErrorCode code : {ErrorCode::kDenied, ErrorCode::kUnavailable}) {
    pods_.Refuse("annotate b", {code, "a webhook refuses, or fails"});
    driver_.Rest();
    clock_.Advance(seconds(360));  // so that the write is tried again
    Step();
    EXPECT_TRUE(Renews());
  }
}

// Such a pod always runs.
TEST_F(TurnsDriverTest, NoPodWaitsForOneThatCannotBeWritten) {
  Have("a");
  Have("b");
  pods_.Refuse("annotate b", {ErrorCode::kInvalid, "annotations: Too long"});
  Step();
  Step();
  EXPECT_FALSE(HasTurn("a"));
  pods_.RefuseNothing();
  clock_.Advance(seconds(360));
  Step();
  EXPECT_TRUE(HasTurn("a"));
  EXPECT_TRUE(HasTurn("b"));
}

// The API server waits ten seconds for the webhook.
TEST_F(TurnsDriverTest, PodsWhoseWebhookHangsEndTheTurnsOfOthersForAMomentAtMost) {
  for (int pod = 0; pod < 8; ++pod)
    Have(fmt::format("slow-{}", pod), fmt::format("GPU-{}", pod / 2));
  Have("x", "GPU-9");
  Have("y", "GPU-9");
  pods_.before_call = [this](std::string_view call) -> Result<> {
    if (call.find("annotate slow") == std::string_view::npos) return {};
    clock_.Advance(seconds(10));
    return Fail(ErrorCode::kUnavailable, "failed calling webhook");
  };
  for (int step = 0; step < 4; ++step) Step();
  EXPECT_TRUE(Renews());
  EXPECT_TRUE(HasTurn("x"));
  int without = 0;
  for (int step = 0; step < 600; ++step) {
    Step();
    without += Renews() ? 0 : 1;
  }
  EXPECT_LT(without, 10);
}

TEST_F(TurnsDriverTest, RenewalEndsAfterAMinuteWithoutASuccess) {
  Have("a");
  Have("b");
  Step();
  GoDown("");
  Have("c");
  for (int step = 0; step < 29; ++step) Step();
  EXPECT_TRUE(Renews());
  Step();
  EXPECT_FALSE(Renews());
}

TEST_F(TurnsDriverTest, AReplicaThatDoesNotLeadWritesAndRenewsNothing) {
  Have("a");
  Have("b");
  may_act_ = false;
  Step();
  EXPECT_THAT(pods_.calls(), IsEmpty());
  EXPECT_FALSE(Renews());
  may_act_ = true;
  Step();
  EXPECT_TRUE(Renews());
  driver_.Rest();
  EXPECT_FALSE(Renews());
}

TEST_F(TurnsDriverTest, TheNextLeaderWritesNothingNew) {
  Have("a");
  Have("b");
  Step();
  const size_t calls = pods_.calls().size();
  driver_.Rest();
  driver_.StartOver();
  Step();
  EXPECT_EQ(pods_.calls().size(), calls);
  EXPECT_TRUE(Renews());
}

TEST_F(TurnsDriverTest, RefusalsHaveOneEventForEachReason) {
  Have("a");
  reports_["a"].turn->refusal = "its liveness probe would fail";
  for (int step = 0; step < 5; ++step) Step();
  reports_["a"].turn->refusal = "it is being deleted";
  Step();
  EXPECT_THAT(events_.reasons(), ElementsAre("SynergyTurnsRefused a", "SynergyTurnsRefused a"));
  EXPECT_THAT(events_.lines().front(), HasSubstr("its liveness probe would fail"));
}

TEST_F(TurnsDriverTest, AGangTakesTurnsOnceAllItsMembersHaveNodes) {
  const auto join = [&](const std::string& name) {
    pods_.Change(name, [](Pod& pod) {
      pod.gang = std::make_shared<const Gang>(Gang{.name = "team/g", .size = 3});
    });
    state_.UpsertPod(pods_.pod(name));
  };
  Have("a");
  Have("g0");
  Have("g1", "GPU-1");
  join("g0");
  join("g1");
  Step();
  EXPECT_THAT(pods_.calls(), IsEmpty());
  // A launcher without GPUs, on another node.
  pods_.Put(testing::ManagedPod("launcher", "n2", 1, ""));
  state_.UpsertPod(pods_.pod("launcher"));
  join("launcher");
  Step();
  EXPECT_TRUE(Renews());
  EXPECT_THAT(
      events_.lines(),
      UnorderedElementsAre(HasSubstr("with team/g0: it runs for 60 s, and is suspended for 60 s"),
                           HasSubstr("with team/a: it runs for 60 s, and is suspended for 60 s; "
                                     "all members of its gang have the same turns"),
                           HasSubstr("is not suspended: no other pod of its GPU trains")));
  state_.RemovePod(pods_.pod("launcher").uid);
  Step();
  EXPECT_FALSE(HasTurn("a") || HasTurn("g0") || HasTurn("g1"));
  EXPECT_THAT(events_.lines().back(), HasSubstr("no longer takes turns: nothing else that trains"));
}

class PackingDriverTest : public TurnsDriverTest {
 protected:
  PackingDriverTest() {
    Node node = testing::NodeOfFour("n1");
    node.allocatable.other.Set("nvidia.com/gpu.turns", 8);
    node.gpu_kinds.products = {"v100"};
    state_.UpsertNode(node);
  }

  void HaveTrainer(const std::string& name) {
    Have(name);
    pods_.Change(name, [&name](Pod& pod) {
      ManagedContainer fungible = *pod.fungible;
      fungible.may_pack = true;
      fungible.workload = "of-" + name;
      pod.fungible = std::make_shared<const ManagedContainer>(std::move(fungible));
    });
    state_.UpsertPod(pods_.pod(name));
    reports_[name].format = "tqdm";
    reports_[name].iterations = 1;
  }
  // Lets both train for two seconds at ten iterations a second, or together at these parts of it.
  void Train(double speed, double other) {
    clock_.Advance(seconds(2));
    const WallTime now = clock_.WallNow();
    std::vector<PodProgress> reported;
    for (auto& [name, report] : reports_) {
      const auto& turn = pods_.pod(name).fungible->turn;
      const bool packed = turn && !turn->beside.empty();
      report.turn->suspended = turn && !turn->RunsAt(now);
      if (report.turn->suspended) {
        report.turn->time_suspended += seconds(2);
      } else {
        report.iterations += !packed ? 20 : 20 * (name == "a" ? speed : other);
        report.last = now;
      }
      reported.push_back(report);
    }
    store_.Observe("n1", {}, std::move(reported), clock_.Present());
    packing_.Step({});
  }

  TurnsDriver packing_{{.gpu_resource = "nvidia.com/gpu", .packing = true},
                       state_,
                       store_,
                       pods_,
                       results_,
                       events_,
                       renewal_,
                       [this] { return may_act_; },
                       clock_,
                       log_.log,
                       metrics_};
};

TEST_F(PackingDriverTest, PacksAreReportedOnBothPods) {
  HaveTrainer("a");
  HaveTrainer("b");
  for (int step = 0; step < 300; ++step) Train(0.8, 0.7);
  std::vector<std::string> packed;
  for (const std::string& line : events_.lines()) {
    if (line.find("at the same time") != std::string::npos) packed.push_back(line);
  }
  ASSERT_EQ(packed.size(), 4U);
  EXPECT_THAT(packed[0], HasSubstr("runs at the same time as team/b on its GPU, on trial"));
  EXPECT_THAT(packed[1], HasSubstr("runs at the same time as team/a on its GPU, on trial"));
  EXPECT_THAT(packed[2], HasSubstr("keeps running at the same time as team/b"));
  EXPECT_THAT(packed[3], HasSubstr("of its speed alone (team/a at 0."));
  EXPECT_EQ(pods_.pod("a").fungible->turn->beside, pods_.pod("b").uid);
  for (const char* line :
       {R"(synergy_turns_packs_total{outcome="kept"} 1)", R"(synergy_turns_pods{state="packed"} 2)",
        R"(synergy_turns_pods{state="in_turns"} 0)"}) {
    EXPECT_THAT(metrics_.Render(), HasSubstr(line));
  }
  EXPECT_TRUE(Renews());
}

TEST_F(PackingDriverTest, RefusalHasTheSpeedsAndTheTimeUntilTheNextTrial) {
  HaveTrainer("a");
  HaveTrainer("b");
  for (int step = 0; step < 300; ++step) Train(0.4, 0.4);
  EXPECT_THAT(events_.lines(), ::testing::Contains(HasSubstr("tried again in 10 min")));
  EXPECT_EQ(pods_.pod("a").fungible->turn->beside, "");
  EXPECT_THAT(metrics_.Render(), HasSubstr(R"(synergy_turns_packs_total{outcome="refused"} 1)"));
}

TEST_F(PackingDriverTest, NextLeaderPacksAKeptPairWithoutATrial) {
  HaveTrainer("a");
  HaveTrainer("b");
  for (int step = 0; step < 300; ++step) Train(0.8, 0.7);
  EXPECT_THAT(profile_api_.calls, ::testing::Contains(HasSubstr("pack team/measured-of-a-1gpu")));
  const size_t calls = profile_api_.calls.size();
  packing_.StartOver();
  for (int step = 0; step < 300; ++step) Train(0.8, 0.7);
  EXPECT_EQ(pods_.pod("a").fungible->turn->beside, pods_.pod("b").uid);
  for (const char* line : {R"(synergy_turns_packs_total{outcome="tried"} 1)",
                           R"(synergy_turns_packs_total{outcome="reused"} 1)",
                           R"(synergy_turns_pack_results_total{outcome="loaded"} 1)"}) {
    EXPECT_THAT(metrics_.Render(), HasSubstr(line));
  }
  EXPECT_EQ(profile_api_.calls.size(), calls) << "the verdict is the same";
}

TEST_F(TurnsDriverTest, PodsWithoutTheResourceTakeNoTurns) {
  for (const char* name : {"a", "b"}) {
    Have(name);
    pods_.Change(name, [](Pod& pod) { pod.requests.other.Set("nvidia.com/gpu.turns", 0); });
    state_.UpsertPod(pods_.pod(name));
  }
  Step();
  EXPECT_THAT(pods_.calls(), IsEmpty());
}

}  // namespace
}  // namespace synergy::controller
