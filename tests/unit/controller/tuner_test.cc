#include "controller/tuner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/silent_log.h"
#include "unit/controller/fake_pods.h"

namespace synergy::controller {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class HeardEvents final : public kube::EventRecorder {
 public:
  void Record(kube::EventRecord event) override {
    heard.push_back(event.reason + " " + event.pod_name);
    said.push_back(std::move(event.message));
  }
  uint64_t dropped() const override { return 0; }

  std::vector<std::string> heard;
  std::vector<std::string> said;
};

// As it stands between an annotation's quotes.
constexpr const char* kGrownToFour =
    R"({\"kind\":\"Grown\",\"from\":{\"cpu\":\"3\",\"memory\":\"4Gi\"},)"
    R"(\"to\":{\"cpu\":\"4\",\"memory\":\"4Gi\"},\"at\":\"1970-01-01T00:00:00Z\",\"why\":\"\"})";

ResourceVector Amounts(int64_t cores, int64_t gibibytes = 4) {
  return {Gpus(1), Cores(cores), GiB(gibibytes)};
}

// Nodes of 4 GPUs, 12 cores and 64 GiB, so that 3 cores are fair.
class TunerTest : public ::testing::Test {
 protected:
  TunerTest() {
    sensitive = std::make_shared<const JobProfile>(*JobProfile::Create(
        Gpus(1), {{Cores(1), GiB(4), 1}, {Cores(3), GiB(4), 3}, {Cores(9), GiB(4), 9}}));
    insensitive = std::make_shared<const JobProfile>(
        *JobProfile::Create(Gpus(1), {{Cores(1), GiB(4), 5}, {Cores(9), GiB(4), 5.1}}));
    AddNode("n1");
  }

  void AddNode(const std::string& name) {
    Node node;
    node.name = name;
    node.allocatable.main = {Gpus(4), Cores(12), GiB(64)};
    node.pods_allowed = 110;
    state.UpsertNode(std::move(node));
  }

  FakePod& AddPod(const std::string& name, const std::string& node, int64_t cores,
                  const std::string& profile = "sensitive") {
    FakePod& pod = api.pods[name];
    pod.name = name;
    pod.node = node;
    pod.profile = profile;
    pod.spec = pod.in_force = Amounts(cores);
    pod.floor = Amounts(profile == "insensitive" ? 1 : 3);
    pod.demand = Amounts(profile == "insensitive" ? 1 : 9);
    Report(name);
    return pod;
  }

  // The watch reports the pod as it is.
  void Report(const std::string& name) {
    const Result<Pod> pod = reader.ReadPod(api.pods.at(name).Json(), json::PodUse::kAccounted);
    ASSERT_TRUE(pod) << pod.error().message;
    state.UpsertPod(*pod);
    tuner.PodSeen(*pod);
  }
  void Leaves(const std::string& name) {
    const Pod pod = *reader.ReadPod(api.pods.at(name).Json(), json::PodUse::kAccounted);
    api.pods.erase(name);
    state.RemovePod(pod.uid);
    tuner.PodGone(pod);
  }
  // The kubelet does what the specs say, and the watch reports it.
  void KubeletCatchesUp() {
    for (auto& [name, pod] : api.pods) {
      pod.in_force = pod.spec;
      pod.condition.clear();
      Report(name);
    }
  }
  void After(Duration duration) {
    clock.Advance(duration);
    tuner.Step();
  }
  MilliCpu Cpu(const std::string& name) { return api.pods.at(name).spec.cpu; }

  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  json::ObjectReader reader{"nvidia.com/gpu"};
  metrics::TunerMetrics metrics;
  ClusterState state;
  FakePods api;
  HeardEvents events;
  std::shared_ptr<const JobProfile> sensitive;
  std::shared_ptr<const JobProfile> insensitive;
  int64_t generation = 1;
  Tuner tuner{state,
              [this](const std::string&, const std::string& name, Gpus) {
                return name == "sensitive"     ? TunedProfile{sensitive, generation}
                       : name == "insensitive" ? TunedProfile{insensitive, generation}
                                               : TunedProfile{};
              },
              api,
              reader,
              events,
              clock,
              log,
              metrics,
              {}};
};

TEST_F(TunerTest, CutsThePeerThatLosesLeastAndKeepsThePlace) {
  AddPod("idle", "n1", 4, "insensitive");
  AddPod("busy", "n1", 8);
  AddPod("new", "", 3);
  tuner.Step();
  EXPECT_THAT(api.calls,
              ElementsAre("annotate new", "resize idle cpu 1, memory 4Gi", "annotate idle"));
  EXPECT_THAT(api.pods["new"].annotations["synergy.io/hold"], HasSubstr("n1"));
  EXPECT_THAT(events.heard, ElementsAre("SynergyReclaimed idle"));
  EXPECT_THAT(events.said.front(), HasSubstr("room for team/new"));
}

TEST_F(TunerTest, DoesNothingTwiceForThePodThatWaits) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  tuner.Step();
  const size_t calls = api.calls.size();
  After(std::chrono::seconds(1));
  After(std::chrono::seconds(10));
  EXPECT_EQ(api.calls.size(), calls);
}

TEST_F(TunerTest, CutsThePodItselfFirst) {
  AddPod("busy", "n1", 9);
  AddPod("new", "", 6);
  tuner.Step();
  EXPECT_THAT(api.calls, ElementsAre("annotate new", "resize new cpu 3, memory 4Gi"));
  Report("new");
  After(std::chrono::seconds(2));
  EXPECT_EQ(Cpu("busy"), Cores(9));  // now it fits
}

TEST_F(TunerTest, CutsNobodyBelowItsFloor) {
  for (const char* name : {"a", "b", "c"}) AddPod(name, "n1", 3);
  AddPod("d", "", 4).floor = Amounts(4);
  Report("d");
  tuner.Step();
  EXPECT_THAT(api.calls, IsEmpty());
}

TEST_F(TunerTest, LeavesNodesAloneWhereThePodMayNotGo) {
  AddPod("idle", "n1", 12, "insensitive");
  Node node;
  node.name = "n1";
  node.allocatable.main = {Gpus(4), Cores(12), GiB(64)};
  node.pods_allowed = 110;
  node.taints = {{"team", "other", "NoSchedule"}};
  state.UpsertNode(node);
  AddPod("new", "", 3);
  tuner.Step();
  EXPECT_THAT(api.calls, IsEmpty());
}

TEST_F(TunerTest, GivesThePlaceUpWhenThePodIsBound) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  tuner.Step();
  api.pods["new"].node = "n1";
  api.pods["new"].in_force = api.pods["new"].spec;
  KubeletCatchesUp();
  tuner.Step();
  EXPECT_FALSE(api.pods["new"].annotations.contains("synergy.io/hold"));
}

TEST_F(TunerTest, RemindsKubeSchedulerOfRoomThatItDoesNotUse) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  tuner.Step();
  After(std::chrono::seconds(3));
  EXPECT_FALSE(api.pods["new"].annotations.contains("synergy.io/room-seen"));  // not in force yet
  KubeletCatchesUp();
  tuner.Step();
  const size_t calls = api.calls.size();
  tuner.Step();
  EXPECT_EQ(api.calls.size(), calls);
  After(std::chrono::seconds(1));
  EXPECT_TRUE(api.pods["new"].annotations.contains("synergy.io/room-seen"));
  for (int i = 0; i < 30; ++i) After(std::chrono::seconds(1));
  EXPECT_EQ(api.calls.size(), calls + 5);  // after 1, 3, 7, 15 and 31 s
}

TEST_F(TunerTest, RemindsKubeSchedulerOfRoomThatWasThereAllTheTime) {
  AddPod("idle", "n1", 1, "insensitive");
  AddPod("new", "", 3);
  tuner.Step();
  EXPECT_THAT(api.calls, IsEmpty());
  After(std::chrono::seconds(1));
  EXPECT_THAT(api.calls, ElementsAre("annotate new"));
  EXPECT_TRUE(api.pods["new"].annotations.contains("synergy.io/room-seen"));
}

TEST_F(TunerTest, GivesThePlaceUpAfterAWhile) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  tuner.Step();
  KubeletCatchesUp();
  After(std::chrono::seconds(61));
  EXPECT_FALSE(api.pods["new"].annotations.contains("synergy.io/hold"));
}

TEST_F(TunerTest, GivesThePlaceUpForAPodOfHigherPriority) {
  AddPod("a", "n1", 3);
  AddPod("b", "n1", 3);
  AddPod("idle", "n1", 4, "insensitive");
  AddPod("new", "", 3);
  tuner.Step();
  ASSERT_TRUE(api.pods["new"].annotations.contains("synergy.io/hold"));
  KubeletCatchesUp();
  AddPod("equal", "", 3);
  After(std::chrono::seconds(2));
  ASSERT_TRUE(api.pods["new"].annotations.contains("synergy.io/hold"));  // the last GPU
  AddPod("urgent", "", 3).priority = 1;
  Report("urgent");
  After(std::chrono::seconds(2));
  EXPECT_FALSE(api.pods["new"].annotations.contains("synergy.io/hold"));
}

TEST_F(TunerTest, PutsBackACutThatTheKubeletCannotMake) {
  AddPod("idle", "n1", 12, "insensitive");
  AddPod("new", "", 3);
  tuner.Step();
  api.pods["idle"].condition =
      R"({"type":"PodResizeInProgress","status":"True","reason":"Error","message":"in use"})";
  Report("idle");
  After(std::chrono::seconds(31));
  EXPECT_EQ(Cpu("idle"), Cores(12));
  EXPECT_TRUE(api.pods["idle"].annotations.contains("synergy.io/unshrinkable-until"));
  EXPECT_FALSE(api.pods["new"].annotations.contains("synergy.io/hold"));
  EXPECT_THAT(events.heard, Contains("SynergyDeferred idle"));
  Report("idle");
  const size_t calls = api.calls.size();
  After(std::chrono::seconds(60));
  EXPECT_EQ(api.calls.size(), calls);  // it cannot be shrunk for a while
}

TEST_F(TunerTest, RemindsTheKubeletOfMemoryThatIsStillInForce) {
  FakePod& pod = AddPod("fat", "n1", 9, "insensitive");
  pod.spec = pod.in_force = Amounts(9, 64);
  Report("fat");
  AddPod("new", "", 3).floor = Amounts(3);
  tuner.Step();
  const size_t calls = api.calls.size();
  After(std::chrono::milliseconds(100));
  EXPECT_EQ(api.calls.size(), calls);
  After(std::chrono::seconds(2));
  EXPECT_EQ(api.calls.size(), calls + 1);
  EXPECT_EQ(api.calls.back(), "annotate fat");
  After(std::chrono::seconds(1));
  EXPECT_EQ(api.calls.size(), calls + 1);
}

TEST_F(TunerTest, DividesWhatAPodLeavesAfterAMoment) {
  AddPod("stays", "n1", 6);
  AddPod("leaves", "n1", 6);
  Leaves("leaves");
  tuner.Step();
  EXPECT_EQ(Cpu("stays"), Cores(6));  // announced
  EXPECT_TRUE(api.pods["stays"].annotations.contains("synergy.io/change"));
  After(std::chrono::seconds(1));
  EXPECT_EQ(Cpu("stays"), Cores(9));
  EXPECT_THAT(events.heard, ElementsAre("SynergyGrown stays"));
}

TEST_F(TunerTest, WithdrawsAGrowthWhenSomebodyElseTookTheRoomMeanwhile) {
  AddPod("stays", "n1", 6);
  AddPod("leaves", "n1", 6);
  Leaves("leaves");
  tuner.Step();
  AddPod("new", "n1", 6);
  After(std::chrono::seconds(1));
  EXPECT_EQ(Cpu("stays"), Cores(6));
  EXPECT_THAT(api.pods["stays"].annotations["synergy.io/change"], HasSubstr("was not made"));
}

TEST_F(TunerTest, MovesSurplusEveryRoundCutsFirst) {
  AddPod("idle", "n1", 6, "insensitive");
  AddPod("busy", "n1", 4);
  After(std::chrono::minutes(5));
  EXPECT_LT(Cpu("idle"), Cores(6));
  EXPECT_EQ(Cpu("busy"), Cores(4));
  KubeletCatchesUp();
  tuner.Step();
  After(std::chrono::seconds(1));
  EXPECT_EQ(Cpu("busy"), Cores(9));
  KubeletCatchesUp();
  const size_t calls = api.calls.size();
  tuner.Step();
  After(std::chrono::minutes(5));
  KubeletCatchesUp();
  After(std::chrono::minutes(5));
  EXPECT_EQ(api.calls.size(), calls);  // nothing left to gain
}

TEST_F(TunerTest, GivesBackWhatItTookAsSoonAsARoundHasPassed) {
  AddPod("stays", "n1", 9);
  AddPod("idle", "n1", 1, "insensitive");
  After(std::chrono::minutes(4));
  AddPod("comes", "", 3);
  tuner.Step();
  EXPECT_EQ(Cpu("stays"), Cores(8));
  api.pods["comes"].node = "n1";
  KubeletCatchesUp();
  After(std::chrono::seconds(1));
  Leaves("comes");
  // The rounds after 5 and 10 minutes are too soon and too late.
  After(std::chrono::seconds(4 * 60 + 57));
  EXPECT_EQ(Cpu("stays"), Cores(8));
  After(std::chrono::seconds(3));
  After(std::chrono::seconds(1));
  EXPECT_EQ(Cpu("stays"), Cores(9));
}

// It may start with what it was bound with when the room has gone to another pod already.
TEST_F(TunerTest, DoesNotCutAPodBeforeTheKubeletHasStartedIt) {
  FakePod& fat = AddPod("fat", "n1", 12, "insensitive");
  fat.started = false;
  Report("fat");
  AddPod("new", "", 3).floor = Amounts(3);
  tuner.Step();
  EXPECT_THAT(api.calls, Not(Contains(HasSubstr("resize fat"))));
  fat.started = true;
  Report("fat");
  After(std::chrono::seconds(2));
  EXPECT_THAT(api.calls, Contains(HasSubstr("resize fat")));
}

// The kubelet may start it with what it was bound with, and until it says so nobody knows.
TEST_F(TunerTest, DoesNotCutAPodThatIsBoundWhileItsCutIsAnnounced) {
  AddPod("busy", "n1", 9);
  AddPod("new", "", 6);
  api.after_change = [](FakePod& pod) {
    pod.node = "n1";
    ++pod.version;
    return Result<>{};
  };
  tuner.Step();
  EXPECT_EQ(Cpu("new"), Cores(6));
  EXPECT_THAT(api.calls, ElementsAre("annotate new", "annotate new"));
  EXPECT_THAT(api.pods["new"].annotations["synergy.io/change"], HasSubstr("was not made"));
}

TEST_F(TunerTest, DoesNotCutAPodThatWasBoundBeforeItsCutWasAnnounced) {
  AddPod("busy", "n1", 9);
  FakePod& pod = AddPod("new", "", 6);
  // Which the watch has not said yet.
  pod.node = "n1";
  pod.annotations["synergy.io/change"] = "by the bind";
  ++pod.version;
  tuner.Step();
  EXPECT_THAT(api.calls, IsEmpty());
  EXPECT_EQ(pod.annotations["synergy.io/change"], "by the bind");
}

// Of a pod that has been changed before, so that its amounts are none that its record has.
TEST_F(TunerTest, RecordsAResizeThatGotNoAnswerLater) {
  AddPod("idle", "n1", 4, "insensitive").annotations["synergy.io/change"] = kGrownToFour;
  Report("idle");
  AddPod("busy", "n1", 8);
  AddPod("new", "", 3);
  api.after_change = [](FakePod& pod) -> Result<> {
    if (pod.spec.cpu == pod.in_force.cpu) return {};
    return Fail(ErrorCode::kTimeout, "the connection broke");
  };
  tuner.Step();
  ASSERT_EQ(Cpu("idle"), Cores(1));
  ASSERT_THAT(api.pods["idle"].annotations["synergy.io/change"], HasSubstr("Grown"));
  api.after_change = [](FakePod&) -> Result<> { return {}; };
  After(std::chrono::minutes(5));
  EXPECT_THAT(api.pods["idle"].annotations["synergy.io/change"], HasSubstr("Reclaimed"));
  EXPECT_THAT(events.heard, Not(Contains("SynergyRespected idle")));
}

TEST_F(TunerTest, RecordsWhatAPredecessorCutAndDidNotComeToRecord) {
  FakePod& pod = AddPod("idle", "n1", 1, "insensitive");
  pod.annotations["synergy.io/change"] = kGrownToFour;
  pod.resizers = {"synergy"};
  pod.spec = pod.in_force = Amounts(2);
  Report("idle");
  tuner.StartOver();
  tuner.Step();
  EXPECT_THAT(api.calls, ElementsAre("annotate idle"));
  EXPECT_THAT(pod.annotations["synergy.io/change"], HasSubstr("Reclaimed"));
  EXPECT_THAT(events.heard, Not(Contains("SynergyRespected idle")));
}

TEST_F(TunerTest, RespectsWhatOthersHaveResizedToo) {
  FakePod& pod = AddPod("idle", "n1", 1, "insensitive");
  pod.annotations["synergy.io/change"] = kGrownToFour;
  pod.resizers = {"synergy", "kubectl-patch"};
  pod.spec = pod.in_force = Amounts(2);
  Report("idle");
  tuner.StartOver();
  tuner.Step();
  EXPECT_THAT(api.calls, IsEmpty());
  EXPECT_THAT(events.heard, Contains("SynergyRespected idle"));
}

TEST_F(TunerTest, TriesAGrowthThatIsRefusedOnceARound) {
  AddPod("stays", "n1", 6);
  AddPod("leaves", "n1", 6);
  api.refuse = [](const FakePod&, const ResourceVector&) { return true; };
  Leaves("leaves");
  tuner.Step();
  for (int i = 0; i < 20; ++i) After(std::chrono::seconds(2));
  EXPECT_THAT(api.calls, ElementsAre("annotate stays", "annotate stays"));
}

TEST_F(TunerTest, DoesNotBringBackAPodThatEndedWhileItWasChanged) {
  AddPod("stays", "n1", 6);
  AddPod("leaves", "n1", 6);
  Leaves("leaves");
  // The watch is faster than the answer to the announcement.
  const FakePod stays = api.pods["stays"];
  state.RemovePod("uid-stays");
  state.RefreshPod(*reader.ReadPod(stays.Json(), json::PodUse::kAccounted));
  EXPECT_EQ(state.known_pods(), 0u);
}

TEST_F(TunerTest, TheCopyDoesNotGoBackWhenTheWatchWasFasterThanTheAnswer) {
  const std::string answer = AddPod("a", "n1", 6).Json();
  FakePod& pod = api.pods["a"];
  pod.spec = Amounts(9);
  ++pod.version;
  Report("a");
  state.RefreshPod(*reader.ReadPod(answer, json::PodUse::kAccounted));
  EXPECT_EQ(state.FindPod("uid-a")->fungible->requested, Amounts(9));
}

TEST_F(TunerTest, RespectsWhatAUserHasChangedByHand) {
  AddPod("stays", "n1", 6);
  AddPod("leaves", "n1", 6);
  Leaves("leaves");
  tuner.Step();
  After(std::chrono::seconds(1));
  KubeletCatchesUp();
  tuner.Step();
  api.pods["stays"].spec = Amounts(5);
  api.pods["stays"].resizers.insert("kubectl-patch");
  KubeletCatchesUp();
  const size_t calls = api.calls.size();
  After(std::chrono::minutes(5));
  After(std::chrono::minutes(5));
  EXPECT_EQ(api.calls.size(), calls);
  EXPECT_THAT(events.heard, Contains("SynergyRespected stays"));
}

TEST_F(TunerTest, TellsThatAProfileHasChanged) {
  AddPod("a", "n1", 9);
  generation = 2;
  After(std::chrono::minutes(5));
  EXPECT_THAT(events.heard, Contains("SynergyRespected a"));
}

TEST_F(TunerTest, LeavesAPodAloneWhoseProfileIsGone) {
  AddPod("a", "n1", 4, "gone");
  AddPod("new", "", 9);
  After(std::chrono::minutes(5));
  EXPECT_THAT(api.calls, Not(Contains(HasSubstr("resize a"))));
}

TEST_F(TunerTest, WithdrawsWhatAPredecessorAnnounced) {
  AddPod("a", "n1", 9).annotations["synergy.io/change"] =
      R"({\"kind\":\"Grown\",\"from\":{\"cpu\":\"9\",\"memory\":\"4Gi\"},)"
      R"(\"to\":{\"cpu\":\"12\",\"memory\":\"4Gi\"},\"at\":\"1970-01-01T00:00:00Z\",\"why\":\"\"})";
  Report("a");
  clock.Advance(std::chrono::seconds(10));
  tuner.StartOver();
  tuner.Step();
  EXPECT_THAT(api.pods["a"].annotations["synergy.io/change"], HasSubstr("was not made"));
  EXPECT_EQ(Cpu("a"), Cores(9));
}

TEST_F(TunerTest, PutsBackACutThatAPredecessorLeftUnfinished) {
  FakePod& pod = AddPod("a", "n1", 9);
  pod.annotations["synergy.io/change"] =
      R"({\"kind\":\"Reclaimed\",\"from\":{\"cpu\":\"9\",\"memory\":\"8Gi\"},)"
      R"(\"to\":{\"cpu\":\"9\",\"memory\":\"4Gi\"},\"at\":\"1970-01-01T00:00:00Z\",\"why\":\"\"})";
  pod.in_force = Amounts(9, 8);
  Report("a");
  clock.Advance(std::chrono::seconds(10));
  tuner.StartOver();
  tuner.Step();
  After(std::chrono::seconds(31));
  EXPECT_EQ(pod.spec.memory, GiB(8));
}

}  // namespace
}  // namespace synergy::controller
