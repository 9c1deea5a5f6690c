#include "nodeagent/guarded/turn_follower.h"

#include <chrono>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/gpu_amount.h"
#include "support/fake_clock.h"
#include "support/silent_log.h"

namespace synergy::nodeagent {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kTurnsOfGpus = "nvidia.com/gpu.turns";

// Acts as containers that can be suspended, and as their guardian.
struct FakeFreezers final : Freezers, TemporaryWriter {
  Result<PlannedSuspension> Plan(const wire::ResizeStatus& pod,
                                 const wire::ResizeStatus::Container&) override {
    return PlannedSuspension{pod.uid, "1"};
  }
  Result<bool> IsFrozen(const std::string& file) override {
    if (slow) clock.Advance(TurnFollower::kMostWait);
    return !slow && frozen.contains(file);
  }
  Result<> Begin(const std::string& file, const std::string& text, Duration time) override {
    EXPECT_EQ(text, "1");
    if (dead) return Fail(ErrorCode::kUnavailable, "the guardian is gone");
    frozen.insert(file);
    longest[file] = time;
    order.push_back("suspend " + file);
    return {};
  }
  Result<> End(const std::string& file) override {
    order.push_back("resume " + file);
    if (frozen.erase(file) == 0) return Fail(ErrorCode::kNotFound, "the guardian was first");
    return {};
  }

  explicit FakeFreezers(testing::FakeClock& given) : clock(given) {}

  testing::FakeClock& clock;
  std::set<std::string> frozen;
  std::map<std::string, Duration> longest;
  std::vector<std::string> order;
  bool dead = false;
  bool slow = false;
};

// Tests two pods, "a" and "b", that take turns of 60 s on a GPU, beginning with "a".
class TurnFollowerTest : public ::testing::Test {
 protected:
  TurnFollowerTest() {
    pods.Replace({});
    Put("a", {{seconds(0), seconds(60)}});
    Put("b", {{seconds(60), seconds(120)}});
  }

  wire::ResizeStatus Pod(const std::string& name, std::vector<GpuTurn::Part> runs) const {
    wire::ResizeStatus pod;
    pod.uid = name;
    pod.pod_namespace = "team";
    pod.name = name;
    pod.gpus_in_turns = 1;
    pod.containers.push_back({.name = "train", .id = "containerd://" + name, .running = true});
    ManagedContainer fungible;
    fungible.container = "train";
    fungible.turn = GpuTurn{epoch, minutes(2), std::move(runs), {"a", "b"}};
    pod.fungible = std::make_shared<const ManagedContainer>(fungible);
    return pod;
  }
  void Put(const std::string& name, std::vector<GpuTurn::Part> runs) {
    pods.Upsert(Pod(name, std::move(runs)));
  }
  void StepRenewed(Duration time = {}) {
    clock.Advance(time);
    follower.Renew();
    follower.Step();
  }
  void ExpectMetric(const std::string& line) const {
    EXPECT_THAT(metrics.Render(), HasSubstr("synergy_node_agent_" + line + "\n"));
  }

  testing::FakeClock clock;
  const WallTime epoch = clock.WallNow();
  testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::NodeAgentMetrics metrics;
  FakeFreezers freezers{clock};
  std::set<std::string> probed;
  NodePods pods;
  PodActs acts;
  const TurnSources sources{&freezers, [this] { return probed; },
                            [] {
                              return std::vector<DeviceOwner>{
                                  {kTurnsOfGpus, "GPU-2::1", "team", "a", "train"},
                                  {kTurnsOfGpus, "GPU-1::0", "team", "a", "train"},
                                  {"nvidia.com/gpu", "GPU-3", "team", "b", "train"}};
                            }};
  TurnFollower follower{pods, sources, freezers, acts, kTurnsOfGpus, true, clock, log, metrics};
};

TEST_F(TurnFollowerTest, SuspendsOneBeforeItResumesTheOther) {
  StepRenewed();
  EXPECT_THAT(freezers.frozen, ElementsAre("b"));
  EXPECT_EQ(freezers.longest["b"], seconds(62));
  StepRenewed(seconds(60));
  EXPECT_THAT(freezers.order, ElementsAre("suspend b", "suspend a", "resume b"));
  EXPECT_THAT(acts.Of("a"), ElementsAre(PodAct{"freeze", epoch + seconds(60)}));
  EXPECT_THAT(acts.Of("b"), ElementsAre(PodAct{"freeze", epoch + seconds(60)})) << "resumed";
  StepRenewed(seconds(60));
  EXPECT_THAT(freezers.frozen, ElementsAre("b"));
  ExpectMetric("suspended_seconds_total 120");
  ExpectMetric("turn_switches_total{outcome=\"in_time\"} 3");
}

TEST_F(TurnFollowerTest, LooksAgainWhenTheNextTurnBegins) {
  follower.Renew();
  EXPECT_EQ(follower.Step(), seconds(1));
  clock.Advance(seconds(59) + std::chrono::milliseconds(700));
  EXPECT_EQ(follower.Step(), std::chrono::milliseconds(300));
}

TEST_F(TurnFollowerTest, WithoutRenewalAllRun) {
  follower.Step();
  EXPECT_THAT(freezers.frozen, IsEmpty());
  follower.Renew();
  clock.Advance(TurnFollower::kRenewedFor - seconds(1));
  follower.Step();
  EXPECT_THAT(freezers.frozen, ElementsAre("b"));
  clock.Advance(seconds(1));
  follower.Step();
  EXPECT_THAT(freezers.frozen, IsEmpty());
}

TEST_F(TurnFollowerTest, APodWhosePartnersAreGoneRuns) {
  StepRenewed();
  ASSERT_THAT(freezers.frozen, ElementsAre("b"));
  wire::ResizeStatus ended = Pod("a", {{seconds(0), seconds(60)}});
  ended.containers[0].running = false;
  pods.Upsert(ended);
  StepRenewed(seconds(1));
  EXPECT_THAT(freezers.frozen, IsEmpty());
}

TEST_F(TurnFollowerTest, APodThatIsDeletedOrEvictedRunsAtOnce) {
  for (bool wire::ResizeStatus::* const reason :
       {&wire::ResizeStatus::deleting, &wire::ResizeStatus::disrupted}) {
    Put("b", {{seconds(60), seconds(120)}});
    StepRenewed(kLeastTimeBetween);
    ASSERT_THAT(freezers.frozen, ElementsAre("b"));
    wire::ResizeStatus pod = Pod("b", {{seconds(60), seconds(120)}});
    pod.*reason = true;
    pods.Upsert(pod);
    StepRenewed(seconds(1));
    EXPECT_THAT(freezers.frozen, IsEmpty());
    EXPECT_THAT(follower.Readings()["b"].refusal, HasSubstr("it is"));
  }
}

TEST_F(TurnFollowerTest, RefusesPodsThatASuspensionWouldHurt) {
  const auto refusal_of = [&](const auto& change) {
    wire::ResizeStatus pod = Pod("b", {{seconds(60), seconds(120)}});
    change(pod);
    pods.Upsert(pod);
    StepRenewed(seconds(1));
    EXPECT_EQ(freezers.frozen.contains("b"), follower.Readings()["b"].refusal.empty());
    return follower.Readings()["b"].refusal;
  };
  EXPECT_THAT(refusal_of([](auto& pod) { pod.gpus_in_turns = 2; }), HasSubstr("several GPUs"));
  EXPECT_THAT(refusal_of([](auto& pod) { pod.in_gang = true; }), HasSubstr("a gang"));
  EXPECT_THAT(refusal_of([](auto& pod) { pod.containers[0].probe_patience = seconds(140); }),
              HasSubstr("a probe of its container"));
  probed = {"b"};
  EXPECT_THAT(refusal_of([](auto&) {}), HasSubstr("CPU is being probed"));
  probed = {};
  ExpectMetric("turn_refusals_total{reason=\"several_gpus\"} 1");
  ExpectMetric("turn_refusals_total{reason=\"probes\"} 1");
  EXPECT_EQ(refusal_of([](auto& pod) {
              pod.gpus_in_turns = 2;
              pod.in_gang = pod.allows_suspension = true;
              pod.containers[0].probe_patience = seconds(141);
            }),
            "");
}

TEST_F(TurnFollowerTest, NothingIsSuspendedWhereThatIsOff) {
  TurnFollower off{pods, sources, freezers, acts, kTurnsOfGpus, false, clock, log, metrics};
  off.Renew();
  off.Step();
  EXPECT_THAT(freezers.frozen, IsEmpty());
  EXPECT_THAT(off.Readings()["a"].refusal, HasSubstr("nodeAgent.turns.enabled"));
}

TEST_F(TurnFollowerTest, APodThatCannotBeSuspendedIsRefusedForAWhile) {
  freezers.dead = true;
  StepRenewed();
  StepRenewed(seconds(1));
  EXPECT_EQ(follower.Readings()["b"].refusal, "the guardian is gone");
  EXPECT_EQ(follower.Readings()["a"].refusal, "");
  freezers.dead = false;
  StepRenewed(seconds(1));
  EXPECT_THAT(freezers.frozen, IsEmpty());
  StepRenewed(TurnFollower::kRefusedFor);
  EXPECT_THAT(freezers.frozen, ElementsAre("b"));
}

TEST_F(TurnFollowerTest, ASlowSuspensionDelaysTheOtherByASecondAtMost) {
  freezers.slow = true;
  StepRenewed();
  StepRenewed(seconds(60));
  EXPECT_THAT(freezers.frozen, ElementsAre("a"));
  ExpectMetric("turn_switches_total{outcome=\"late\"} 2");
}

TEST_F(TurnFollowerTest, ANewPlanSuspendsNoPodForLongerWithoutAPause) {
  Put("a", {{seconds(0), seconds(110)}});
  Put("b", {{seconds(110), seconds(120)}});
  StepRenewed();
  EXPECT_EQ(freezers.longest["b"], kMostSuspended);
  clock.Advance(seconds(100));
  // By this plan the pod would get its turn another 100 s later.
  Put("b", {{seconds(90), seconds(100)}});
  StepRenewed(seconds(10));
  EXPECT_FALSE(freezers.frozen.contains("b"));
  StepRenewed(kLeastTimeBetween - seconds(1));
  EXPECT_FALSE(freezers.frozen.contains("b"));
}

TEST_F(TurnFollowerTest, AClockThatIsSetBackKeepsTheTurns) {
  StepRenewed();
  StepRenewed(seconds(60));
  ASSERT_THAT(freezers.frozen, ElementsAre("a"));
  clock.SetWall(epoch);  // the turn of "a" again
  StepRenewed(seconds(1));
  EXPECT_EQ(follower.Readings()["a"].time_suspended, seconds(1));
  StepRenewed(kLeastTimeBetween);
  EXPECT_THAT(freezers.frozen, ElementsAre("b"));
}

TEST_F(TurnFollowerTest, AContainerThatWasRestartedIsNotTakenForSuspended) {
  StepRenewed();
  wire::ResizeStatus pod = Pod("b", {{seconds(60), seconds(120)}});
  pod.containers[0].id = "containerd://other";
  pods.Upsert(pod);
  StepRenewed(seconds(1));
  EXPECT_FALSE(follower.Readings()["b"].suspended);
}

TEST_F(TurnFollowerTest, ReportsGpusAndSuspendedTime) {
  follower.LookAtGpus();
  StepRenewed();
  StepRenewed(seconds(20));
  EXPECT_THAT(follower.Readings()["a"].gpus, ElementsAre("GPU-1", "GPU-2"));
  EXPECT_EQ(follower.Readings()["b"],
            (TurnReading{.gpus = {}, .suspended = true, .time_suspended = seconds(20)}));
  StepRenewed(seconds(40));
  StepRenewed(seconds(10));
  EXPECT_EQ(follower.Readings()["b"],
            (TurnReading{.gpus = {}, .suspended = false, .time_suspended = seconds(60)}));
}

TEST_F(TurnFollowerTest, APodOfTheSameNameHasNotTheGpusOfThePodBefore) {
  follower.LookAtGpus();
  StepRenewed();
  EXPECT_THAT(follower.Readings()["a"].gpus, Not(IsEmpty()));
  wire::ResizeStatus next = Pod("a", {{seconds(0), seconds(60)}});
  next.uid = "next";
  pods.Remove(Pod("a", {}));
  pods.Upsert(next);
  StepRenewed();
  EXPECT_THAT(follower.Readings()["next"].gpus, IsEmpty());
}

}  // namespace
}  // namespace synergy::nodeagent
