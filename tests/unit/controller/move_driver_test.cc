#include "controller/preemption/move_driver.h"

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/annotations.h"
#include "controller/progress/progress_store.h"
#include "controller/tuner/action_executor.h"
#include "controller/tuner/tuner_calls.h"
#include "controller/tuner/tuner_driver.h"
#include "engine/tuner/tuner.h"
#include "support/cluster_vocabulary.h"
#include "support/fake_clock.h"
#include "support/fake_pod_api.h"
#include "support/managed_pods.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"

namespace synergy::controller {
namespace {

using namespace std::chrono_literals;
using synergy::testing::ManagedPod;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class FakeMoveEvictions final : public kube::EvictionApi {
 public:
  Result<> TryEvict(const kube::PodIdentity& pod, std::stop_token) override {
    if (refusal) return Fail(*refusal);
    tried.push_back(pod.name);
    return {};
  }
  Result<> Evict(const kube::PodIdentity& pod, std::stop_token) override {
    if (late_refusal) return Fail(*late_refusal);
    evicted.push_back(pod.name);
    return {};
  }

  std::optional<Error> refusal;       // of dry runs
  std::optional<Error> late_refusal;  // of evictions
  std::vector<std::string> tried;
  std::vector<std::string> evicted;
};

// Keeps the record as a ConfigMap does.
class FakeMoveApi final : public kube::MoveApi {
 public:
  Result<wire::MovableOwner> ReadJob(const std::string&, const std::string& name,
                                     std::stop_token) override {
    if (!jobs.contains(name)) return Fail(ErrorCode::kNotFound, "no such job");
    return jobs.at(name);
  }
  Result<PublishedMoves> ReadMoves(std::stop_token) override {
    if (!stored) return Fail(ErrorCode::kNotFound, "there is none");
    return *stored;
  }
  Result<PublishedMoves> WriteMoves(const PublishedMoves& moves, std::stop_token) override {
    if (refusal) return Fail(*refusal);
    const std::string version = stored ? stored->resource_version : "";
    if (moves.resource_version != version) return Fail(ErrorCode::kConflict, "it has changed");
    stored = moves;
    stored->resource_version = std::to_string(++version_);
    return *stored;
  }

  std::map<std::string, wire::MovableOwner> jobs;
  std::optional<PublishedMoves> stored;
  std::optional<Error> refusal;

 private:
  int version_ = 0;
};

const Error kProtected{ErrorCode::kOverloaded, "it would violate the pod's disruption budget"};

// Nodes m and n of four GPUs. Jobs a and b have two of each, with an hour left. w waits for four.
class MoveDriverTest : public ::testing::Test {
 protected:
  MoveDriverTest() {
    synergy::testing::ObserveUntil(state, 1000);
    for (const char* name : {"m", "n"}) state.UpsertNode(synergy::testing::NodeOfFour(name));
    AddJob("a", "m");
    AddJob("b", "n");
    Add("w", "", 4);
  }

  // Adds a pod; an empty node: it waits.
  void Add(const std::string& name, const std::string& node, int64_t gpus,
           const std::string& job = {}) {
    Pod pod = ManagedPod(name, node, 1, "insensitive");
    auto fungible = std::make_shared<ManagedContainer>(*pod.fungible);
    fungible->requested = fungible->in_force = fungible->set_aside = {Gpus(gpus), Cores(2), GiB(4)};
    fungible->floor = fungible->demand = fungible->requested;
    fungible->workload = "of-" + (job.empty() ? name : job);
    pod.fungible = std::move(fungible);
    if (node.empty()) {
      auto waiting = std::make_shared<Waiting>(*pod.waiting);
      waiting->since = clock.WallNow();
      pod.waiting = std::move(waiting);
    }
    api.Put(std::move(pod));
    if (!node.empty()) api.SettleOnNode(name);
    state.UpsertPod(api.pod(name));
    wire::MovablePod facts{.uid = api.pod(name).uid};
    if (!job.empty()) {
      facts.owner = {"batch/v1", "Job", job, "uid-" + job};
      facts.moves = facts.checkpoints = true;
      facts.selection = std::make_shared<const NodeSelection>();
    }
    movable.Upsert(facts);
    times.Upsert({.uid = facts.uid, .started = clock.WallNow()});
  }
  void AddJob(const std::string& job, const std::string& node) {
    moves.jobs[job] = {.uid = "uid-" + job, .ignores_disruption = true};
    Add(job + "-1", node, 2, job);
  }
  void ChangeFacts(const std::string& name, const std::function<void(wire::MovablePod&)>& change) {
    wire::MovablePod facts = *movable.Find(api.pod(name).uid);
    change(facts);
    movable.Upsert(facts);
  }
  void Report(const std::string& name, double rate = 2, double iterations = 1000) {
    PodProgress report;
    report.uid = api.pod(name).uid;
    report.format = "tqdm";
    report.remaining = 1h;
    report.rate = rate;
    report.iterations = iterations;
    progress.Observe(api.pod(name).node, WallTime{}, {report}, clock.Present());
  }
  void Leave(const std::string& name) {
    const std::string uid = api.pod(name).uid;
    state.RemovePod(uid);
    movable.Remove({.uid = uid});
    times.Remove({.uid = uid});
    api.Remove(name);
  }
  void BindTo(const std::string& name, const std::string& node) {
    api.Change(name, [&](Pod& pod) {
      pod.node = node;
      pod.waiting = nullptr;
    });
    state.UpsertPod(api.pod(name));
  }
  void After(Duration time) {
    clock.Advance(time);
    for (const char* name : {"a-1", "b-1"}) {
      if (movable.Find(name)) Report(name);
    }
    state.DropStaleExpectations(clock.Now(), clock.WallNow());
    driver->Step({});
  }
  // Another replica becomes the leader.
  void NewLeader() {
    driver = Make();
    driver->StartOver();
  }
  std::unique_ptr<MoveDriver> Make() {
    MoveDriverSettings settings;
    settings.restart_cost = 1min;
    return std::make_unique<MoveDriver>(
        settings,
        MoveSources{state, times, movable,
                    [this](const std::string& uid, Instant now) { return progress.Of(uid, now); },
                    [](const std::string&, const std::string&) { return false; }},
        api, evictions, moves, events, acts, [this] { return leads; }, clock, log, metrics);
  }
  bool HasPlace(const std::string& name) {
    return api.annotation(name, annotations::kKeptPlace).has_value();
  }
  std::string Outcome(const std::string& outcome, int count = 1) {
    return "synergy_moves_total{outcome=\"" + outcome + "\"} " + std::to_string(count);
  }

  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::ControllerMetrics metrics{"nvidia.com/gpu"};
  ClusterState state;
  KeyedStore<wire::PodTimes> times;
  KeyedStore<wire::MovablePod> movable;
  ProgressStore progress;
  synergy::testing::FakePodApi api;
  FakeMoveEvictions evictions;
  FakeMoveApi moves;
  synergy::testing::RecordedEvents events;
  PodActs acts;
  bool leads = true;
  std::unique_ptr<MoveDriver> driver = Make();
};

TEST_F(MoveDriverTest, OneMoveGivesTheWaiterItsNode) {
  After(9min);
  EXPECT_THAT(evictions.evicted, IsEmpty()) << "w has not waited for long";
  After(2min);
  EXPECT_THAT(evictions.evicted, ElementsAre("a-1"));
  EXPECT_TRUE(HasPlace("w"));
  EXPECT_THAT(events.reasons(),
              UnorderedElementsAre("SynergyMoved a-1", "SynergyMoved a", "SynergyMoved w"));
  EXPECT_THAT(events.lines().front(),
              HasSubstr("moves so that team/w gets 4 GPUs on m; its new pods have room on n; cost: "
                        "2 GPUs for about 1 min; gain: 4 GPUs about 60 min sooner"));
  ASSERT_TRUE(moves.stored);
  EXPECT_EQ(moves.stored->moves.front().phase, MovePhase::kBegun);
  EXPECT_EQ(acts.Of("a-1").size(), 1);

  Leave("a-1");
  Add("a-2", "", 2, "a");
  After(1s);
  EXPECT_EQ(state.FindPod("a-2")->waiting->kept_node, "n");
  BindTo("a-2", "n");
  After(1s);
  BindTo("w", "m");
  After(1s);
  EXPECT_THAT(metrics.Render(), HasSubstr(Outcome("moved")));
  EXPECT_EQ(moves.stored->moves.front().phase, MovePhase::kEnded);
  EXPECT_THAT(evictions.evicted, ElementsAre("a-1"));
}

TEST_F(MoveDriverTest, TheTunerMakesTheCutsOnWhichAMoveCounts) {
  Leave("w");
  api.Put(ManagedPod("grown", "m", 10, "insensitive"));
  state.UpsertPod(api.pod("grown"));
  Add("v", "", 3);
  api.ChangeManaged("v",
                    [](ManagedContainer& pod) { pod.requested.cpu = pod.floor.cpu = Cores(5); });
  api.Change("v", [](Pod& pod) { pod.requests.main.cpu = Cores(5); });
  state.UpsertPod(api.pod("v"));
  const auto profiles = synergy::testing::TwoProfiles();
  const Tuner decides({}, profiles);
  metrics::TunerMetrics tuner_metrics;
  TunerCalls calls(state, api, events, clock, log, tuner_metrics, [] { return true; });
  const auto executor = MakeSerialExecutor(calls, [] { return true; }, clock);
  TunerDriver tuner(decides, state, *executor, clock, tuner_metrics);
  tuner.StartOver();
  tuner.Step();
  After(11min);
  ASSERT_THAT(evictions.evicted, ElementsAre("a-1"));
  ASSERT_EQ(state.FindPod("v")->waiting->kept_node, "m");
  tuner.Step();
  EXPECT_EQ(api.pod("grown").fungible->requested.cpu, Cores(10));
  Leave("a-1");
  After(1s);
  tuner.Step();
  EXPECT_EQ(api.pod("grown").fungible->requested.cpu, Cores(7));
  EXPECT_TRUE(HasPlace("v"));
}

TEST_F(MoveDriverTest, TheRoomIsKeptBeforeTheEviction) {
  api.Refuse("annotate w", {ErrorCode::kDenied, "a policy"});
  After(11min);
  EXPECT_THAT(evictions.evicted, IsEmpty());
  EXPECT_FALSE(moves.stored);
  EXPECT_THAT(metrics.Render(), HasSubstr(Outcome("refused")));
}

TEST_F(MoveDriverTest, NothingMovesWithoutOptInCheckpointsOrAnAskingJob) {
  for (const char* name : {"a-1", "b-1"})
    ChangeFacts(name, [](wire::MovablePod& pod) { pod.moves = false; });
  After(11min);
  for (const char* name : {"a-1", "b-1"}) {
    ChangeFacts(name, [](wire::MovablePod& pod) {
      pod.moves = true;
      pod.checkpoints = false;
    });
  }
  After(11min);
  for (const char* name : {"a-1", "b-1"}) {
    ChangeFacts(name, [](wire::MovablePod& pod) {
      pod.checkpoints = true;
      pod.owner.kind = "StatefulSet";
    });
  }
  After(11min);
  EXPECT_THAT(evictions.tried, IsEmpty());
}

TEST_F(MoveDriverTest, AJobThatCountsDisruptionsStaysAndTheOtherMoves) {
  moves.jobs["a"].ignores_disruption = false;
  After(11min);
  EXPECT_THAT(evictions.tried, IsEmpty());
  EXPECT_FALSE(HasPlace("w"));
  After(5s);
  EXPECT_THAT(evictions.evicted, ElementsAre("b-1"));
}

TEST_F(MoveDriverTest, ARefusedDryRunEndsTheMoveAndLeavesNothingBehind) {
  evictions.refusal = kProtected;
  After(11min);
  After(5s);
  EXPECT_FALSE(HasPlace("w"));
  EXPECT_FALSE(moves.stored);
  EXPECT_THAT(metrics.Render(), HasSubstr(Outcome("refused", 2))) << "of both jobs";
  evictions.refusal.reset();
  After(11min);
  EXPECT_THAT(evictions.evicted, ElementsAre("a-1")) << "it is tried again later";
}

TEST_F(MoveDriverTest, AnEvictionThatIsRefusedAfterAllForgetsTheMove) {
  evictions.late_refusal = kProtected;
  After(11min);
  EXPECT_FALSE(HasPlace("w"));
  EXPECT_THAT(moves.stored->moves, IsEmpty());
  After(5s);
  EXPECT_THAT(evictions.tried, ElementsAre("a-1", "b-1"));
  for (int look = 0; look < 5; ++look) After(1min);
  EXPECT_THAT(evictions.tried, ElementsAre("a-1", "b-1")) << "both rest";
}

TEST_F(MoveDriverTest, AnEvictionWhoseAnswerWasLostCounts) {
  evictions.late_refusal = {ErrorCode::kUnavailable, "connection reset"};
  // The API server has made the eviction.
  api.Change("a-1", [](Pod& pod) { pod.deleting = true; });
  After(11min);
  ASSERT_TRUE(moves.stored);
  ASSERT_EQ(moves.stored->moves.size(), 1);
  EXPECT_TRUE(HasPlace("w"));
  EXPECT_EQ(acts.Of("a-1").size(), 1);
  Leave("a-1");
  After(1s);
  BindTo("w", "m");
  After(1s);
  EXPECT_THAT(metrics.Render(), HasSubstr(Outcome("moved")));
  ASSERT_EQ(moves.stored->moves.size(), 1) << "the job does not move again";
  EXPECT_EQ(moves.stored->moves.front().phase, MovePhase::kEnded);
}

TEST_F(MoveDriverTest, EvictsNoMorePodsOnceThePlaceHasLapsed) {
  evictions.late_refusal = {ErrorCode::kUnavailable, "connection reset"};
  api.Change("a-1", [](Pod& pod) { pod.deleting = true; });
  After(11min);
  ASSERT_TRUE(HasPlace("w"));
  evictions.late_refusal.reset();
  After(61s);  // the watches were interrupted meanwhile
  EXPECT_THAT(evictions.evicted, IsEmpty());
  EXPECT_THAT(metrics.Render(), HasSubstr(Outcome("in_vain")));
}

TEST_F(MoveDriverTest, WithoutARecordNoPodIsEvicted) {
  moves.refusal = {ErrorCode::kDenied, "no right"};
  After(11min);
  EXPECT_THAT(evictions.evicted, IsEmpty());
  EXPECT_FALSE(HasPlace("w"));
}

TEST_F(MoveDriverTest, AWaiterThatIsGoneEndsTheMove) {
  After(11min);
  Leave("w");
  After(1s);
  EXPECT_THAT(metrics.Render(), HasSubstr(Outcome("waiter_gone")));
  EXPECT_EQ(moves.stored->moves.front().phase, MovePhase::kEnded);
}

TEST_F(MoveDriverTest, RoomThatIsNotUsedIsGivenUpAndNoOtherJobMoves) {
  After(11min);
  Leave("a-1");
  for (int step = 0; step < 20; ++step) After(10s);
  EXPECT_THAT(metrics.Render(), HasSubstr(Outcome("in_vain")));
  EXPECT_FALSE(HasPlace("w"));
  Add("x", "m", 2);  // so that w has no room, and b could make some
  for (int step = 0; step < 20; ++step) After(1min);
  EXPECT_THAT(evictions.evicted, ElementsAre("a-1")) << "a waiter gets room by one move at most";
}

TEST_F(MoveDriverTest, ThePlaceIsRenewedWhileThePodsLeave) {
  After(11min);
  for (int step = 0; step < 10; ++step) {
    After(15s);
    EXPECT_GT(api.pod("w").waiting->kept_until, clock.WallNow()) << step;
  }
}

TEST_F(MoveDriverTest, AJobMovesOnceWhateverTheLeader) {
  After(11min);
  Leave("a-1");
  Add("a-2", "n", 2, "a");
  BindTo("w", "m");
  After(1s);
  // The same again, the other way round: w ends, and v waits for four.
  Leave("w");
  Leave("b-1");
  Add("b-2", "m", 2, "c");
  moves.jobs["c"] = {.uid = "uid-c", .ignores_disruption = false};
  Add("v", "", 4);
  for (int step = 0; step < 3; ++step) {
    Report("a-2");
    Report("b-2");
    After(1min);
  }
  NewLeader();
  for (int step = 0; step < 30; ++step) {
    Report("a-2");
    Report("b-2");
    After(1min);
  }
  EXPECT_THAT(evictions.evicted, ElementsAre("a-1"));
}

TEST_F(MoveDriverTest, ANewLeaderGoesOnWithAMove) {
  After(11min);
  api.Change("a-1", [](Pod& pod) { pod.deleting = true; });
  state.UpsertPod(api.pod("a-1"));
  NewLeader();
  After(20s);
  After(20s);
  EXPECT_GT(api.pod("w").waiting->kept_until, clock.WallNow()) << "it renews the place";
  Leave("a-1");
  After(1s);
  BindTo("w", "m");
  After(1s);
  EXPECT_THAT(metrics.Render(), HasSubstr(Outcome("moved")));
  EXPECT_THAT(evictions.evicted, ElementsAre("a-1"));
}

TEST_F(MoveDriverTest, ANewLeaderRenewsThePlaceAtOnce) {
  After(11min);
  api.Change("a-1", [](Pod& pod) { pod.deleting = true; });
  state.UpsertPod(api.pod("a-1"));
  After(29s);
  NewLeader();
  After(1s);
  EXPECT_GT(api.pod("w").waiting->kept_until, clock.WallNow() + 50s);
}

TEST_F(MoveDriverTest, AReplicaThatLeadsAgainGoesOnAndGivesThePodsTheirGracePeriods) {
  api.Change("a-1", [](Pod& pod) { pod.grace = 20min; });
  state.UpsertPod(api.pod("a-1"));
  After(11min);
  api.Change("a-1", [](Pod& pod) { pod.deleting = true; });
  state.UpsertPod(api.pod("a-1"));
  driver->StartOver();
  for (int step = 0; step < 19 * 4; ++step) After(15s);
  EXPECT_GT(api.pod("w").waiting->kept_until, clock.WallNow());
  EXPECT_THAT(metrics.Render(), Not(HasSubstr(Outcome("in_vain"))));
  Leave("a-1");
  BindTo("w", "m");
  After(1s);
  EXPECT_THAT(metrics.Render(), HasSubstr(Outcome("moved")));
}

TEST_F(MoveDriverTest, AWaiterThatIsBoundMeanwhileNeedsNoMove) {
  Leave("b-1");
  api.Change("w", [](Pod& pod) {
    pod.node = "n";
    pod.waiting = nullptr;
  });
  Add("b-1", "n", 2, "b");  // as the watch has it: late
  After(11min);
  EXPECT_THAT(evictions.evicted, IsEmpty());
  EXPECT_FALSE(moves.stored);
  EXPECT_FALSE(state.FindPod("w")->waiting);
}

TEST_F(MoveDriverTest, APlaceWhoseAnswerWasLostIsTakenBack) {
  api.after_change = [](const Pod& pod) -> Result<> {
    if (pod.name != "w" || pod.waiting->kept_node.empty()) return {};
    return Fail(ErrorCode::kTimeout, "no answer");
  };
  After(11min);
  EXPECT_THAT(evictions.evicted, IsEmpty());
  EXPECT_THAT(api.calls(), Contains(HasSubstr("annotate w synergy.io/hold-")));
  EXPECT_FALSE(HasPlace("w"));
}

TEST_F(MoveDriverTest, AFailedRenewalIsTriedAgain) {
  After(11min);
  api.Refuse("annotate w", {ErrorCode::kUnavailable, "no answer"});
  After(31s);
  const size_t calls = api.calls().size();
  After(4s);
  EXPECT_EQ(api.calls().size(), calls) << "not at once";
  api.RefuseNothing();
  After(1s);
  EXPECT_GT(api.pod("w").waiting->kept_until, clock.WallNow() + 50s);
}

TEST_F(MoveDriverTest, PodsOfAnotherNamespaceAreNotGuided) {
  After(11min);
  Leave("a-1");
  Add("a-2", "", 2, "a");
  api.Change("a-2", [](Pod& pod) { pod.pod_namespace = "other"; });
  state.UpsertPod(api.pod("a-2"));
  After(1s);
  EXPECT_THAT(state.FindPod("a-2")->waiting->kept_node, IsEmpty());
}

TEST_F(MoveDriverTest, ALeaderKilledBeforeTheEvictionLosesNothing) {
  After(11min);  // in the fake, the pod runs on as if it had not been evicted
  NewLeader();
  After(1s);
  EXPECT_THAT(moves.stored->moves, IsEmpty()) << "no pod was evicted";
  After(2min);  // what was kept lapses, and then the job moves
  After(5s);
  EXPECT_EQ(moves.stored->moves.size(), 1);
}

TEST_F(MoveDriverTest, ANewLeaderAsksTheApiServerHowFarAMoveWent) {
  After(11min);
  // The eviction has happened, but the watch has not seen it.
  api.Change("a-1", [](Pod& pod) { pod.deleting = true; });
  NewLeader();
  After(1s);
  EXPECT_EQ(moves.stored->moves.size(), 1);
  EXPECT_EQ(moves.stored->moves.front().phase, MovePhase::kEnded);
}

TEST_F(MoveDriverTest, ASlowerPlacementIsRemembered) {
  After(11min);
  Leave("a-1");
  Add("a-2", "n", 2, "a");
  BindTo("w", "m");
  Report("a-2", 1.8, 99);
  After(5s);
  EXPECT_THAT(moves.stored->worse, IsEmpty()) << "100 iterations are compared";
  Report("a-2", 1.8, 100);
  After(5s);
  EXPECT_THAT(moves.stored->worse,
              ElementsAre(WorsePlacement{.workload = "team/of-a", .kind = "x4"}));
  EXPECT_THAT(events.lines(), Contains(HasSubstr("runs at 0.9 times its rate")));
}

TEST_F(MoveDriverTest, AReplicaThatDoesNotLeadWritesNothing) {
  leads = false;
  After(11min);
  EXPECT_THAT(evictions.tried, IsEmpty());
  EXPECT_THAT(api.calls(), IsEmpty());
}

TEST_F(MoveDriverTest, EvaluationsOfALongRunAreNoPartOfARestart) {
  // It began to train a minute after its start, and has a checkpoint each minute.
  const auto report = [&](double iterations, Duration remaining) {
    for (const char* name : {"a-1", "b-1"}) {
      PodProgress progress_of;
      progress_of.uid = name;
      progress_of.format = "tqdm";
      progress_of.remaining = remaining;
      progress_of.rate = 2;
      progress_of.iterations = iterations;
      progress_of.last = progress_of.checkpoint = clock.WallNow();
      progress.Observe(api.pod(name).node, WallTime{}, {progress_of}, clock.Present());
    }
    driver->Step({});
  };
  clock.Advance(2min);
  report(120, 11h);
  EXPECT_THAT(evictions.tried, IsEmpty());
  // Since then it has trained for a quarter of the time.
  clock.Advance(10h);
  report(120 + 2 * 9000, 1h);
  EXPECT_THAT(evictions.evicted, ElementsAre("a-1"));
  EXPECT_THAT(events.lines().front(), HasSubstr("cost: 2 GPUs for about 1 min"));
}

TEST_F(MoveDriverTest, ARestartIsMeasuredByProgress) {
  // Half an hour was lost since the checkpoint: 2 GPUs for 30 min cost more than half of what w
  // gains.
  After(9min);
  for (const char* name : {"a-1", "b-1"}) {
    PodProgress report;
    report.uid = name;
    report.format = "tqdm";
    report.remaining = 59min;
    report.rate = 2;
    report.iterations = 1000;
    report.last = clock.WallNow();
    report.checkpoint = clock.WallNow() - 60min;
    wire::PodTimes started = *times.Find(name);
    started.started = clock.WallNow() - 2h;
    times.Upsert(started);
    progress.Observe(api.pod(name).node, clock.WallNow() - 3h, {report}, clock.Present());
  }
  clock.Advance(1min + 1s);
  driver->Step({});
  EXPECT_THAT(evictions.tried, IsEmpty());
}

}  // namespace
}  // namespace synergy::controller
