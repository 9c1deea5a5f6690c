#include "controller/preemption/reservation_driver.h"

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/annotations.h"
#include "controller/progress/progress_store.h"
#include "core/wall_time.h"
#include "engine/reservations/passing_check.h"
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
using ::testing::SizeIs;

// Nodes n1 and n2 of four GPUs. "a" trains on n1, with an hour left, and "silent" on n2. "big"
// waits for four GPUs.
class ReservationDriverTest : public ::testing::Test {
 protected:
  ReservationDriverTest() {
    synergy::testing::ObserveUntil(state, 1000);
    for (const char* name : {"n1", "n2"}) state.UpsertNode(synergy::testing::NodeOfFour(name));
    AddPod("a", "n1", 1);
    AddPod("silent", "n2", 1);
    AddPod("big", "", 4);
    ReportProgress(1h);
  }

  void AddPod(const std::string& name, const std::string& node, int64_t gpus,
              const std::string& gang = {}) {
    Pod pod = ManagedPod(name, node, 1);
    pod.fungible = nullptr;  // the tests need no CPU and memory
    pod.requests.main = {Gpus(gpus), Cores(1), GiB(1)};
    if (!gang.empty()) {
      pod.gang = std::make_shared<const Gang>(Gang{.name = "team/" + gang, .size = 2});
    }
    if (node.empty()) {
      auto waiting = std::make_shared<Waiting>(*pod.waiting);
      waiting->since = clock.WallNow();
      pod.waiting = std::move(waiting);
    }
    api.Put(pod);
    state.UpsertPod(api.pod(name));
    uids[name] = api.pod(name).uid;
  }
  void Leave(const std::string& name) {
    state.RemovePod(uids[name]);
    times.Remove({.uid = uids[name]});
    api.Remove(name);
    uids.erase(name);
  }
  void ReportProgress(std::optional<Duration> remaining) {
    PodProgress report;
    report.uid = uids["a"];
    report.format = "tqdm";
    report.remaining = remaining;
    progress.Observe("n1", WallTime{}, {report}, clock.Present());
  }
  // kube-scheduler has tried the pod, and says why it has no node.
  void SetMessage(const std::string& name, const std::string& message) {
    api.Change(name, [&](Pod& pod) {
      auto waiting = std::make_shared<Waiting>(*pod.waiting);
      waiting->message = message;
      pod.waiting = std::move(waiting);
    });
    state.UpsertPod(api.pod(name));
  }
  // The watch of pods' times reports the annotations as they are.
  void WatchCatchesUp() {
    for (const auto& [name, uid] : uids) {
      wire::PodTimes pod{.uid = uid};
      pod.owner = owners[name];
      pod.reservation = Written(name);
      pod.longest = longest[name];
      if (expected.contains(name)) pod.expected = expected[name];
      if (const auto value = api.annotation(name, annotations::kLongestRun))
        pod.learnt = std::chrono::seconds(std::stoi(*value));
      if (starts.contains(name)) pod.started = starts[name];
      times.Upsert(std::move(pod));
    }
  }
  // `left`: of a's training.
  void After(Duration time, std::optional<Duration> left) {
    clock.Advance(time);
    ReportProgress(left);
    driver.Step({});
    WatchCatchesUp();
  }
  // Adds a pod of the workload that is refused, or runs since now.
  void AddTraining(const std::string& name, const std::string& node, int64_t gpus,
                   const std::string& workload) {
    AddPod(name, node, gpus);
    api.Change(name, [&](Pod& pod) {
      auto managed = std::make_shared<ManagedContainer>();
      managed->workload = workload;
      managed->requested = managed->set_aside = managed->in_force = pod.requests.main;
      pod.fungible = std::move(managed);
      if (node.empty()) {
        auto waiting = std::make_shared<Waiting>(*pod.waiting);
        waiting->message = "1 GPUs of n1" + std::string(kReservedFor) + "team/big until 14:20";
        pod.waiting = std::move(waiting);
      }
    });
    state.UpsertPod(api.pod(name));
    if (!node.empty()) starts[name] = clock.WallNow();
    WatchCatchesUp();
  }
  // The driver finds it a second later.
  void Complete(const std::string& name) {
    times.Upsert({.uid = uids[name], .succeeded = true});
    state.RemovePod(uids[name]);
    uids.erase(name);
    After(1s, 10h);
  }
  std::optional<std::string> LongestRun(const std::string& name) {
    return api.annotation(name, annotations::kLongestRun);
  }
  std::optional<PublishedReservation> Written(const std::string& name) {
    const auto value = api.annotation(name, annotations::kGpuReservation);
    return value ? wire::ReadGpuReservation(*value) : std::nullopt;
  }
  ReservationDriver MakeDriver(std::function<bool()> may_act) {
    return {{},  state,  progress_of,        times, expects_node,
            api, events, std::move(may_act), clock, log};
  }
  bool IsReminded(const std::string& name) {
    return api.annotation(name, annotations::kRoomSeen).has_value();
  }

  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  ClusterState state;
  ProgressStore progress;
  KeyedStore<wire::PodTimes> times;
  synergy::testing::FakePodApi api;
  synergy::testing::RecordedEvents events;
  std::map<std::string, std::string> uids;
  std::map<std::string, std::string> owners;  // UIDs, by names of pods
  std::map<std::string, std::optional<Duration>> longest;
  std::map<std::string, Duration> expected;
  std::map<std::string, WallTime> starts;
  std::set<std::string> scaled_up_for;  // names of pods
  bool acts = true;
  const TrainingEnds::ProgressOf progress_of = [this](const std::string& uid, Instant now) {
    return progress.Of(uid, now);
  };
  const ReservationDriver::ExpectsNode expects_node = [this](const Pod& pod, WallTime) {
    return scaled_up_for.contains(pod.name);
  };
  ReservationDriver driver = MakeDriver([this] { return acts; });
};

TEST_F(ReservationDriverTest, ReservesTheGpusThatAreFreeSoonestWithTheirDate) {
  After(9min, 1h);
  EXPECT_FALSE(Written("big")) << "it has not waited for long enough";
  After(1min, 1h);
  const auto written = Written("big");
  ASSERT_TRUE(written);
  EXPECT_EQ(written->job, "team/big");
  EXPECT_EQ(written->places,
            (std::vector<GpuReservation::Place>{{"n1", Gpus(4), Cores(1), GiB(1)}}));
  EXPECT_EQ(written->waits_for, std::vector<std::string>{"team/a"});
  const WallTime now = clock.WallNow();
  // Until trainings have ended, estimates count as right within a factor of two.
  EXPECT_EQ(ToTimeText(written->earliest), ToTimeText(now + 30min));
  EXPECT_EQ(ToTimeText(written->likely), ToTimeText(now + 1h));
  EXPECT_EQ(ToTimeText(written->latest), ToTimeText(now + 2h));
  EXPECT_EQ(ToTimeText(written->until), ToTimeText(now + 10min));
  EXPECT_THAT(events.lines(), Contains(HasSubstr("on n1, when team/a is done")));
}

TEST_F(ReservationDriverTest, AJobThatIsSuspendedAndResumedKeepsItsWaitingTime) {
  for (const char* pod : {"big", "big-again", "big-ran"}) owners[pod] = "job";
  WatchCatchesUp();
  After(8min, 1h);
  Leave("big");
  After(30min, 1h);
  AddPod("big-again", "", 4);
  WatchCatchesUp();
  After(1min, 1h);
  EXPECT_FALSE(Written("big-again")) << "it was not waiting while it was suspended";
  After(1min, 1h);
  EXPECT_TRUE(Written("big-again"));
  // Once it has run, its earlier waits count no more.
  api.Change("big-again", [](Pod& pod) {
    pod.node = "n2";
    pod.waiting = nullptr;
  });
  state.UpsertPod(api.pod("big-again"));
  After(5s, 1h);
  Leave("big-again");
  AddPod("big-ran", "", 4);
  WatchCatchesUp();
  After(9min, 1h);
  EXPECT_FALSE(Written("big-ran"));
  After(1min, 1h);
  EXPECT_TRUE(Written("big-ran"));
}

TEST_F(ReservationDriverTest, AJobWhosePodWasReplacedKeepsItsNodes) {
  owners["big"] = owners["big-again"] = "job";
  longest["silent"] = 2h;
  WatchCatchesUp();
  After(10min, 1h);
  ASSERT_EQ(Written("big")->places.front().node, "n1");
  Leave("big");
  After(5s, 1h);
  EXPECT_THAT(driver.reservations(), IsEmpty());
  AddPod("big-again", "", 4);
  WatchCatchesUp();
  // n2 is free a little sooner now.
  After(5s, 2h + 4min);
  ASSERT_TRUE(Written("big-again"));
  EXPECT_EQ(Written("big-again")->places.front().node, "n1");
}

TEST_F(ReservationDriverTest, PodsOfAnotherNamespaceDoNotEndItsWaitingTime) {
  for (const char* pod : {"big", "big-again", "other"}) owners[pod] = "job";
  WatchCatchesUp();
  After(8min, 1h);
  Leave("big");
  AddPod("other", "n2", 1);
  api.Change("other", [](Pod& pod) { pod.pod_namespace = "elsewhere"; });
  state.UpsertPod(api.pod("other"));
  WatchCatchesUp();
  After(1min, 1h);
  AddPod("big-again", "", 4);
  WatchCatchesUp();
  After(2min, 1h);
  EXPECT_TRUE(Written("big-again"));
}

TEST_F(ReservationDriverTest, WritesAgainOnlyWhatMovesOrIsAboutToExpire) {
  After(10min, 1h);
  const size_t calls = api.calls().size();
  After(1min, 59min);
  After(1min, 58min + 30s);
  EXPECT_THAT(api.calls(), SizeIs(calls)) << "the start is where it was";
  const auto before = Written("big");
  After(4min, 54min);
  EXPECT_GT(Written("big")->until, before->until) << "renewed";
  EXPECT_EQ(events.lines().size(), 1u);
  After(1min, 2h);
  EXPECT_GT(Written("big")->likely, before->likely + 50min);
  EXPECT_EQ(events.lines().size(), 2u);
}

TEST_F(ReservationDriverTest, ExplainsWhyThereIsNoReservation) {
  After(10min, std::nullopt);
  EXPECT_FALSE(Written("big"));
  EXPECT_THAT(events.lines(), ElementsAre(HasSubstr("pods with known ends")));
  After(1min, std::nullopt);
  EXPECT_EQ(events.lines().size(), 1u) << "once";
}

TEST_F(ReservationDriverTest, AJobForWhichNodesAreMadeHasNone) {
  After(10min, 1h);
  ASSERT_TRUE(Written("big"));
  ASSERT_THAT(driver.reservations(), SizeIs(1));
  scaled_up_for = {"big"};
  After(5s, 1h);
  EXPECT_FALSE(Written("big"));
  EXPECT_THAT(driver.reservations(), IsEmpty());
  EXPECT_THAT(events.lines().back(), HasSubstr("an autoscaler makes nodes for it"));
  scaled_up_for.clear();
  After(5s, 1h);
  EXPECT_TRUE(Written("big"));
}

TEST_F(ReservationDriverTest, CountsOnThePodsOwnDeadlines) {
  longest["silent"] = 20min;
  WatchCatchesUp();
  After(10min, 3h);
  const auto written = Written("big");
  ASSERT_TRUE(written);
  EXPECT_EQ(written->places.front().node, "n2");
  EXPECT_EQ(ToTimeText(written->likely), ToTimeText(clock.WallNow() + 20min));
  EXPECT_EQ(written->earliest, written->until - 10min) << "it may end at any time";
}

TEST_F(ReservationDriverTest, GivesAGangOneReservationOnAllOfItsPods) {
  Leave("big");
  AddPod("g-0", "", 2, "g");
  AddPod("g-1", "", 2, "g");
  After(10min, 1h);
  for (const char* name : {"g-0", "g-1"}) {
    ASSERT_TRUE(Written(name)) << name;
    EXPECT_EQ(Written(name)->job, "gang team/g");
  }
  EXPECT_EQ(events.lines().size(), 1u);
}

TEST_F(ReservationDriverTest, RemovesItFromAJobThatRuns) {
  After(10min, 1h);
  api.Change("big", [](Pod& pod) {
    pod.node = "n1";
    pod.waiting = nullptr;
  });
  state.UpsertPod(api.pod("big"));
  After(5s, 1h);
  EXPECT_FALSE(api.annotation("big", annotations::kGpuReservation));
}

TEST_F(ReservationDriverTest, RemindsKubeSchedulerOfRefusedPodsWhenAReservationEnds) {
  After(10min, 1h);
  AddPod("refused", "", 1);
  AddPod("other", "", 1);
  SetMessage("refused", "0/2 nodes are available: 1 GPUs of n1" + std::string(kReservedFor) + "x");
  SetMessage("other", "0/2 nodes are available: 2 Insufficient cpu");
  After(5s, 1h);
  EXPECT_FALSE(IsReminded("refused")) << "nothing has changed";
  Leave("big");
  After(5s, 1h);
  EXPECT_TRUE(IsReminded("refused"));
  EXPECT_FALSE(IsReminded("other"));
}

TEST_F(ReservationDriverTest, RemindsOfAFewPodsAtATime) {
  After(10min, 1h);
  constexpr int kRefused = 25;
  for (int i = 0; i < kRefused; ++i) {
    AddPod("r" + std::to_string(i), "", 1);
    SetMessage("r" + std::to_string(i), "GPUs of n1" + std::string(kReservedFor) + "x");
  }
  const auto reminded = [&] {
    int count = 0;
    for (int i = 0; i < kRefused; ++i) count += IsReminded("r" + std::to_string(i)) ? 1 : 0;
    return count;
  };
  Leave("big");
  After(5s, 1h);
  EXPECT_EQ(reminded(), 20);
  After(5s, 1h);
  EXPECT_EQ(reminded(), kRefused);
}

TEST_F(ReservationDriverTest, EndsForAJobThatDoesNotStartAlthoughItsGpusAreFree) {
  After(10min, 1h);
  Leave("a");
  uids.erase("a");
  AddPod("alike", "", 4);
  AddPod("next", "", 3);
  const auto step = [&](Duration time) {
    for (; time > 0s; time -= 5s) {
      clock.Advance(5s);
      driver.Step({});
      WatchCatchesUp();
    }
  };
  step(5s);
  ASSERT_TRUE(Written("big"));
  step(100s);
  EXPECT_TRUE(Written("big"));
  clock.Advance(1min);
  step(5s);
  EXPECT_TRUE(Written("big")) << "there were no steps that renew the reservation";
  step(60s);
  driver.StartOver();
  step(60s);
  EXPECT_TRUE(Written("big")) << "another replica led";
  step(55s);
  EXPECT_TRUE(Written("big"));
  step(10s);
  EXPECT_FALSE(Written("big"));
  EXPECT_THAT(events.lines(), Contains(HasSubstr("it did not start")));
  step(5min);
  EXPECT_TRUE(Written("next")) << "the next one has its turn";
  EXPECT_FALSE(Written("alike")) << "it probably waits for the same thing";
  step(25min + 30s);
  EXPECT_TRUE(Written("big")) << "after half an hour it is tried again";
}

// A hung training repeats its last report, and one with a bar for each epoch reports the epoch's
// end.
TEST_F(ReservationDriverTest, EndsIfTheEndThatItWaitsForNeverComes) {
  After(10min, 5min);
  ASSERT_TRUE(Written("big"));
  for (int i = 0; i < 25; ++i) After(1min, 5min);
  EXPECT_FALSE(Written("big"));
  EXPECT_THAT(events.lines(), Contains(HasSubstr("known ends")));
}

TEST_F(ReservationDriverTest, TakesOverWhatAnotherReplicaHasWritten) {
  AddPod("b", "n2", 3);
  api.Remove("silent");
  state.RemovePod(uids["silent"]);
  uids.erase("silent");
  longest["b"] = 68min;
  WatchCatchesUp();
  After(10min, 1h);
  ASSERT_EQ(Written("big")->places.front().node, "n1");
  ReservationDriver next = MakeDriver([] { return true; });
  next.StartOver();
  ReportProgress(70min);  // n2 would be free two minutes sooner
  next.Step({});
  EXPECT_EQ(Written("big")->places.front().node, "n1");
}

TEST_F(ReservationDriverTest, WritesNothingWhileAnotherReplicaLeads) {
  acts = false;
  After(10min, 1h);
  EXPECT_THAT(api.calls(), IsEmpty());
}

TEST_F(ReservationDriverTest, TriesAWriteAgainThatFailed) {
  api.Refuse("annotate big", {ErrorCode::kUnavailable, "no"});
  After(10min, 1h);
  EXPECT_FALSE(Written("big"));
  api.RefuseNothing();
  After(5s, 1h);
  EXPECT_TRUE(Written("big"));
}

TEST_F(ReservationDriverTest, LearnsFromTrainingsThatHaveEnded) {
  // Five trainings take half as long again as their logs say.
  for (int i = 0; i < 5; ++i) {
    ReportProgress(20min);
    driver.Step({});
    clock.Advance(30min);
    driver.Step({});
    times.Upsert({.uid = uids["a"], .succeeded = true});
    state.RemovePod(uids["a"]);
    driver.Step({});
    const std::string name = "a" + std::to_string(i);
    AddPod(name, "n1", 1);
    uids["a"] = uids[name];
    uids.erase(name);
  }
  ReportProgress(40min);
  driver.Step({});
  EXPECT_EQ(ToTimeText(Written("big")->likely), ToTimeText(clock.WallNow() + 1h));
}

// Pods of a workload run for half an hour, one after the other; then another one of them waits.
TEST_F(ReservationDriverTest, WritesOnRefusedPodsHowLongOthersOfTheirWorkloadHaveRun) {
  After(10min, 10h);
  ASSERT_TRUE(Written("big"));
  AddTraining("next", "", 1, "w-1");
  AddTraining("larger", "", 2, "w-1");
  for (const char* const name : {"r0", "r1", "r2", "r3"}) {
    EXPECT_FALSE(LongestRun("next"));
    AddTraining(name, "n2", 1, "w-1");
    After(30min, 10h);
    Complete(name);
  }
  EXPECT_EQ(LongestRun("next"), "1801");
  EXPECT_FALSE(LongestRun("larger")) << "with more GPUs";
  EXPECT_FALSE(LongestRun("big")) << "of another workload";
  // One takes longer: nothing is known any more.
  AddTraining("r4", "n2", 1, "w-1");
  After(30min, 10h);
  EXPECT_EQ(LongestRun("next"), "1801");
  After(1min, 10h);
  EXPECT_FALSE(LongestRun("next"));
}

// Pods of a gang end at different times.
TEST_F(ReservationDriverTest, AGangTeachesHowLongItRanAsAWhole) {
  const auto add = [&](const std::string& gang, const std::string& node) {
    for (const char* const member : {"-0", "-1"}) {
      AddTraining(gang + member, node, 1, "w-1");
      api.Change(gang + member, [&](Pod& pod) {
        pod.gang = std::make_shared<const Gang>(Gang{.name = "team/" + gang, .size = 2});
      });
      state.UpsertPod(api.pod(gang + member));
    }
  };
  After(10min, 10h);
  AddTraining("single", "", 1, "w-1");
  add("next", "");
  for (const char* const gang : {"g0", "g1", "g2", "g3"}) {
    EXPECT_FALSE(LongestRun("next-0"));
    add(gang, "n2");
    After(20min, 10h);
    Complete(std::string(gang) + "-0");
    After(10min, 10h);
    Complete(std::string(gang) + "-1");
  }
  EXPECT_EQ(LongestRun("next-0"), "1802");
  EXPECT_FALSE(LongestRun("single"));
}

TEST_F(ReservationDriverTest, JobsThatEndedWhileItDidNotLookTeachNothing) {
  After(10min, 10h);
  AddTraining("next", "", 1, "w-1");
  for (const char* const name : {"r0", "r1", "r2", "r3"}) {
    AddTraining(name, "n2", 1, "w-1");
    After(30min, 10h);
    clock.Advance(5min);  // an outage
    Complete(name);
  }
  EXPECT_FALSE(LongestRun("next"));
}

TEST_F(ReservationDriverTest, AReplicaThatDidNotLeadHasLearntWhenItLeads) {
  ReservationDriver next = MakeDriver([] { return true; });
  ReservationDriver fresh = MakeDriver([] { return true; });
  After(10min, 10h);
  for (const char* const name : {"r0", "r1", "r2", "r3"}) {
    AddTraining(name, "n2", 1, "w-1");
    After(30min, 10h);
    next.Observe();
    Complete(name);
    next.Observe();
  }
  AddTraining("next", "", 1, "w-1");
  fresh.StartOver();
  fresh.Step({});
  EXPECT_FALSE(LongestRun("next")) << "it has just started";
  next.StartOver();
  next.Step({});
  EXPECT_EQ(LongestRun("next"), "1801");
}

TEST_F(ReservationDriverTest, WritesEstimatesOfUsersUntilOneIsOverrun) {
  After(10min, 10h);
  expected["next"] = 40min;
  AddTraining("next", "", 1, "w-1");
  AddTraining("mute", "", 1, "w-1");
  After(1s, 10h);
  EXPECT_EQ(LongestRun("next"), "2400");
  EXPECT_FALSE(LongestRun("mute")) << "it has no estimate";
  expected["mute"] = 40min;
  WatchCatchesUp();
  After(1s, 10h);
  EXPECT_FALSE(LongestRun("mute")) << "it had none when it was first seen";
  expected["liar"] = 10min;
  AddTraining("liar", "n2", 1, "w-2");
  After(1s, 10h);
  expected["liar"] = 9h;  // what its user writes later does not count
  WatchCatchesUp();
  After(10min, 10h);
  EXPECT_FALSE(LongestRun("next"));
  Leave("liar");
  uids.erase("liar");
  After(1s, 10h);
  EXPECT_FALSE(LongestRun("next")) << "its deletion does not hide it";
}

TEST_F(ReservationDriverTest, AMeasuredDurationGoesBeforeAnEstimate) {
  After(10min, 10h);
  for (const char* const name : {"r0", "r1", "r2", "r3"}) {
    AddTraining(name, "n2", 1, "w-1");
    After(30min, 10h);
    Complete(name);
  }
  expected["next"] = 5min;
  AddTraining("next", "", 1, "w-1");
  After(1s, 10h);
  EXPECT_EQ(LongestRun("next"), "1801");
}

}  // namespace
}  // namespace synergy::controller
