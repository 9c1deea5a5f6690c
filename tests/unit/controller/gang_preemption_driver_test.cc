#include "controller/preemption/gang_preemption_driver.h"

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/controller/tuner_fixture.h"

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
using ::testing::UnorderedElementsAre;

// Records evicted pods, which end when the test says so.
class FakeEvictions final : public kube::EvictionApi {
 public:
  Result<> TryEvict(const kube::PodIdentity& pod, std::stop_token) override {
    tried.push_back(pod.name);
    return Answer(pod.name, "try ");
  }
  Result<> Evict(const kube::PodIdentity& pod, std::stop_token) override {
    if (Result<> answer = Answer(pod.name, ""); !answer) return answer;
    evicted.push_back(pod.name);
    return {};
  }

  std::map<std::string, Error> refusals;  // "a", or "try a"
  std::vector<std::string> tried;
  std::vector<std::string> evicted;

 private:
  Result<> Answer(const std::string& name, const std::string& before) const {
    const auto refusal = refusals.find(before + name);
    if (refusal == refusals.end()) return {};
    return Fail(refusal->second);
  }
};

const Error kBudget{ErrorCode::kOverloaded, "it would violate the pod's disruption budget"};

// Four GPUs of n1 run two pods of a gang and two pods that train alone. A gang of three with a
// higher priority waits.
class GangPreemptionDriverTest : public ::testing::Test {
 protected:
  GangPreemptionDriverTest() {
    synergy::testing::ObserveUntil(state, 1000);
    state.UpsertNode(synergy::testing::NodeOfFour("n1"));
    for (const char* name : {"v-0", "v-1"}) AddPod(name, "n1", 1, "victim", 2);
    AddPod("alone", "n1", 2);
    AddPod("other", "n1", 3);
    for (const char* name : {"m-0", "m-1", "m-2"}) AddPod(name, "", 9, "important", 3);
  }

  void AddPod(const std::string& name, const std::string& node, int32_t priority,
              const std::string& gang = {}, int32_t size = 0) {
    Pod pod = ManagedPod(name, node, 3, "insensitive");
    pod.priority = priority;
    if (!gang.empty()) {
      pod.gang = std::make_shared<const Gang>(
          Gang{.name = "team/" + gang, .size = size, .problem = {}, .spread = {}});
    }
    api.Put(std::move(pod));
    if (!node.empty()) api.SettleOnNode(name);
    state.UpsertPod(api.pod(name));
  }
  void Leave(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      state.RemovePod(api.pod(name).uid);
      api.Remove(name);
    }
  }
  // Adds the victims' replacements to the room that was made.
  void VictimsAreBack() {
    for (const char* name : {"v-0", "v-1"}) AddPod(name, "n1", 1, "victim", 2);
    AddPod("alone", "n1", 2);
    evictions.evicted.clear();
  }
  void Bind(const std::string& name) {
    api.Change(name, [](Pod& pod) {
      pod.node = "n1";
      pod.waiting = nullptr;
    });
    state.UpsertPod(api.pod(name));
  }
  void After(Duration time) {
    clock.Advance(time);
    state.DropStaleExpectations(clock.Now(), clock.WallNow());
    preemption.Step({});
  }
  bool HasPlace(const std::string& name) {
    return api.annotation(name, annotations::kKeptPlace).has_value();
  }
  std::string Ended(const std::string& outcome) {
    return "synergy_controller_gang_preemptions_total{outcome=\"" + outcome + "\"} 1";
  }

  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::ControllerMetrics metrics{"nvidia.com/gpu"};
  ClusterState state;
  synergy::testing::FakePodApi api;
  FakeEvictions evictions;
  synergy::testing::RecordedEvents events;
  bool acts = true;
  PodActs done;
  GangPreemptionDriver preemption{
      {}, state, api, evictions, events, done, [this] { return acts; }, clock, log, metrics};
};

TEST_F(GangPreemptionDriverTest, EvictsWhatIsNeededAndKeepsThePlacesUntilTheGangIsBound) {
  After(1min);
  EXPECT_THAT(evictions.evicted, UnorderedElementsAre("v-0", "v-1", "alone"))
      << "the gang with the lowest priority goes whole, and one more";
  for (const std::string& name : evictions.evicted)
    EXPECT_EQ(done.Of(api.pod(name).uid).size(), 1) << name;
  for (const char* name : {"m-0", "m-1", "m-2"}) EXPECT_TRUE(HasPlace(name)) << name;
  EXPECT_THAT(events.reasons(), Contains("SynergyPreempting m-1"));
  EXPECT_THAT(events.reasons(), Contains("SynergyPreempted v-0"));
  const size_t asked = evictions.evicted.size();
  After(1s);
  After(40s);
  EXPECT_EQ(evictions.evicted.size(), asked) << "they are about to go";
  Leave({"v-0", "v-1", "alone"});
  After(1s);
  // No other pod gets the room: all three free GPUs belong to the members.
  const auto snapshot = state.Snapshot();
  EXPECT_EQ(synergy::testing::NodeOf(*snapshot, "n1").Free().gpus, Gpus(0));
  for (const char* name : {"m-0", "m-1", "m-2"}) Bind(name);
  After(1s);
  EXPECT_THAT(metrics.Render(), HasSubstr(Ended("bound")));
  EXPECT_THAT(metrics.Render(), HasSubstr("synergy_controller_evicted_pods_total 3"));
}

TEST_F(GangPreemptionDriverTest, EvictsNoPodIfOneEvictionWouldBeRefused) {
  evictions.refusals.emplace("try v-1", kBudget);
  After(1min);
  EXPECT_THAT(evictions.evicted, IsEmpty());
  EXPECT_FALSE(HasPlace("m-0"));
  EXPECT_THAT(events.lines(), Contains(HasSubstr("disruption budget")));
  EXPECT_THAT(metrics.Render(), HasSubstr(Ended("refused")));
  const size_t tries = evictions.tried.size();
  After(30s);
  EXPECT_EQ(evictions.tried.size(), tries) << "the gang rests";
  evictions.refusals.clear();
  After(31s);
  EXPECT_THAT(evictions.evicted, UnorderedElementsAre("v-0", "v-1", "alone"));
}

TEST_F(GangPreemptionDriverTest, AGangThatIsRefusedKeepsNoOtherOfItsNamespaceBack) {
  evictions.refusals.emplace("try alone", kBudget);
  After(1min);
  EXPECT_THAT(evictions.evicted, IsEmpty());
  Leave({"m-0", "m-1", "m-2"});
  evictions.refusals.clear();
  for (const char* name : {"w-0", "w-1", "w-2"}) AddPod(name, "", 9, "urgent", 3);
  After(1s);
  EXPECT_THAT(evictions.evicted, Not(IsEmpty()));
}

TEST_F(GangPreemptionDriverTest, RetriesARefusedEviction) {
  evictions.refusals.emplace("v-1", kBudget);
  After(1min);
  EXPECT_THAT(evictions.evicted, UnorderedElementsAre("v-0", "alone"));
  evictions.refusals.clear();
  After(1s);
  EXPECT_THAT(evictions.evicted, UnorderedElementsAre("v-0", "alone", "v-1"));
}

TEST_F(GangPreemptionDriverTest, AGangThatIsBoundMeanwhileNeedsNoEviction) {
  for (const char* name : {"m-0", "m-1", "m-2"}) {
    api.Change(name, [](Pod& pod) {  // the watch has not reported it yet
      pod.node = "n2";
      pod.waiting = nullptr;
    });
  }
  After(1min);
  EXPECT_THAT(evictions.evicted, IsEmpty());
  EXPECT_THAT(metrics.Render(), HasSubstr(Ended("refused")));
}

TEST_F(GangPreemptionDriverTest, EvictsNoMorePodsOnceThePlacesHaveLapsed) {
  evictions.refusals.emplace("v-1", kBudget);
  After(1min);
  evictions.refusals.clear();
  After(61s);  // the watches were interrupted meanwhile
  EXPECT_THAT(evictions.evicted, UnorderedElementsAre("v-0", "alone"));
  EXPECT_THAT(metrics.Render(), HasSubstr(Ended("in_vain")));
}

TEST_F(GangPreemptionDriverTest, AReplicaThatLeadsAgainBeginsAnew) {
  evictions.refusals.emplace("v-1", kBudget);
  After(1min);
  preemption.StartOver();
  evictions.refusals.clear();
  After(1min);  // the places lapse
  After(10s);
  EXPECT_THAT(evictions.evicted, Contains("v-1"));
  EXPECT_TRUE(HasPlace("m-0"));
}

TEST_F(GangPreemptionDriverTest, APlaceWhoseAnswerWasLostIsTakenBack) {
  api.after_change = [](const Pod& pod) -> Result<> {
    if (pod.name != "m-1" || pod.waiting->kept_node.empty()) return {};
    return Fail(ErrorCode::kTimeout, "no answer");
  };
  After(1min);
  EXPECT_THAT(evictions.evicted, IsEmpty());
  for (const char* name : {"m-0", "m-1", "m-2"}) EXPECT_FALSE(HasPlace(name)) << name;
}

TEST_F(GangPreemptionDriverTest, AFailedRenewalIsTriedAgain) {
  After(1min);
  Leave({"v-0", "v-1"});
  api.Refuse("annotate m-1", {ErrorCode::kUnavailable, "no answer"});
  After(40s);
  Leave({"alone"});
  After(1s);
  EXPECT_THAT(metrics.Render(), Not(HasSubstr(Ended("in_vain"))));
  api.RefuseNothing();
  After(1s);
  After(30s);
  EXPECT_TRUE(HasPlace("m-1"));
  for (const char* name : {"m-0", "m-1", "m-2"}) Bind(name);
  After(1s);
  EXPECT_THAT(metrics.Render(), HasSubstr(Ended("bound")));
}

TEST_F(GangPreemptionDriverTest, RenewalsThatFailUntilThePlacesHaveLapsedEndTheAttempt) {
  After(1min);
  api.Refuse("annotate m-1", {ErrorCode::kUnavailable, "no answer"});
  After(59s);
  EXPECT_THAT(metrics.Render(), Not(HasSubstr(Ended("in_vain"))));
  After(1s);
  EXPECT_THAT(metrics.Render(), HasSubstr(Ended("in_vain")));
}

TEST_F(GangPreemptionDriverTest, AGangThatIsNotBoundInTheRoomRestsTwiceAsLongEachTime) {
  After(1min);
  Leave({"v-0", "v-1", "alone"});
  After(1s);
  After(61s);
  EXPECT_THAT(metrics.Render(), HasSubstr(Ended("in_vain")));
  EXPECT_FALSE(HasPlace("m-0"));
  VictimsAreBack();
  After(59s);
  EXPECT_THAT(evictions.evicted, IsEmpty());
  After(2s);
  EXPECT_THAT(evictions.evicted, Not(IsEmpty()));
  Leave({"v-0", "v-1", "alone"});
  After(1s);
  After(61s);
  VictimsAreBack();
  After(118s);
  EXPECT_THAT(evictions.evicted, IsEmpty());
  After(3s);
  EXPECT_THAT(evictions.evicted, Not(IsEmpty()));
}

// Otherwise a gang that is created again under another name would avoid the pause.
TEST_F(GangPreemptionDriverTest, AGangOfTheSameNamespaceAndPriorityRestsToo) {
  After(1min);
  Leave({"v-0", "v-1", "alone"});
  After(1s);
  After(61s);
  VictimsAreBack();
  Leave({"m-0", "m-1", "m-2"});
  After(1s);
  for (const char* name : {"w-0", "w-1", "w-2"}) AddPod(name, "", 9, "urgent", 3);
  After(50s);
  EXPECT_THAT(evictions.evicted, IsEmpty());
  After(1min);
  EXPECT_THAT(evictions.evicted, Not(IsEmpty()));
}

TEST_F(GangPreemptionDriverTest, AGangThatLosesAMemberMeanwhileGivesItsPlacesBack) {
  After(1min);
  Leave({"m-2"});
  After(1s);
  EXPECT_FALSE(HasPlace("m-0"));
  EXPECT_THAT(metrics.Render(), HasSubstr(Ended("gang_gone")));
}

TEST_F(GangPreemptionDriverTest, EvictsNoPodWithoutAKeptPlaceOrAsStandby) {
  api.Refuse("annotate m-1", {ErrorCode::kUnavailable, "away"});
  After(1min);
  EXPECT_THAT(evictions.tried, IsEmpty());
  EXPECT_FALSE(HasPlace("m-0"));
  api.RefuseNothing();
  acts = false;
  After(5min);
  EXPECT_THAT(evictions.tried, IsEmpty());
}

TEST_F(GangPreemptionDriverTest, VictimsThatNeverGoEndTheAttempt) {
  After(1min);
  for (int i = 0; i < 21; ++i) After(30s);
  EXPECT_THAT(metrics.Render(), HasSubstr(Ended("in_vain")));
  EXPECT_FALSE(HasPlace("m-0"));
}

// Otherwise the gang would lose its place before a victim with a longer grace period has ended.
TEST_F(GangPreemptionDriverTest, VictimsHaveTheirOwnGracePeriods) {
  for (const char* name : {"v-0", "v-1", "alone"}) {
    api.Change(name, [](Pod& pod) { pod.grace = 20min; });
    state.UpsertPod(api.pod(name));
  }
  After(1min);
  for (int i = 0; i < 41; ++i) After(30s);
  EXPECT_TRUE(HasPlace("m-0")) << "20.5 minutes later";
  for (int i = 0; i < 2; ++i) After(30s);
  EXPECT_FALSE(HasPlace("m-0"));
  EXPECT_THAT(metrics.Render(), HasSubstr(Ended("in_vain")));
}

TEST_F(GangPreemptionDriverTest, DoesNotWaitForVictimsOfAGangOnOtherNodes) {
  After(1min);
  ASSERT_TRUE(HasPlace("m-0"));
  state.UpsertNode(synergy::testing::NodeOfFour("n2"));
  for (const char* name : {"w-0", "w-1", "w-2", "w-3"}) AddPod(name, "n2", 1);
  for (const char* name : {"s-0", "s-1"}) AddPod(name, "", 9, "second", 2);
  After(1min);
  EXPECT_TRUE(HasPlace("s-0"));
  EXPECT_TRUE(HasPlace("m-0"));
  EXPECT_THAT(evictions.evicted, SizeIs(5));
}

TEST_F(GangPreemptionDriverTest, AGangOfHigherPriorityGetsTheRoomThatIsBeingMade) {
  After(1min);
  ASSERT_TRUE(HasPlace("m-0"));
  for (const char* name : {"e-0", "e-1", "e-2"}) AddPod(name, "", 9, "equal", 3);
  After(1min);
  EXPECT_FALSE(HasPlace("e-0")) << "it waits";
  for (const char* name : {"h-0", "h-1", "h-2"}) AddPod(name, "", 10, "higher", 3);
  Leave({"v-0", "v-1", "alone"});
  After(20s);
  EXPECT_FALSE(HasPlace("m-0"));
  EXPECT_THAT(metrics.Render(), HasSubstr(Ended("yielded")));
}

// Four GPUs are freed for three members, so one is left over.
TEST_F(GangPreemptionDriverTest,
       AGangOfHigherPriorityTakesNoRoomFromALowerOneWhereThereIsRoomForBoth) {
  Leave({"m-0", "m-1", "m-2", "v-0", "v-1", "alone", "other"});
  state.RemoveNode("n1");
  state.UpsertNode(synergy::testing::MakeNode("n2", {Gpus(6), Cores(24), GiB(64)}));
  for (const char* name : {"v-0", "v-1", "v-2", "v-3"}) AddPod(name, "n2", 1, "victim", 4);
  for (const char* name : {"u-0", "u-1"}) AddPod(name, "n2", 20);
  for (const char* name : {"m-0", "m-1", "m-2"}) AddPod(name, "", 9, "important", 3);
  After(1min);
  ASSERT_TRUE(HasPlace("m-0"));
  AddPod("h-0", "", 10, "higher", 1);
  After(1min);
  After(1min);
  EXPECT_TRUE(HasPlace("m-0"));
  EXPECT_THAT(metrics.Render(), Not(HasSubstr(Ended("yielded"))));
  AddPod("i-0", "", 11, "highest", 2);
  AddPod("i-1", "", 11, "highest", 2);
  After(1min);
  After(1min);
  EXPECT_FALSE(HasPlace("m-0"));
  EXPECT_THAT(metrics.Render(), HasSubstr(Ended("yielded")));
}

TEST_F(GangPreemptionDriverTest, NoGracePeriodKeepsPlacesForMoreThanAnHour) {
  for (const char* name : {"v-0", "v-1", "alone"}) {
    api.Change(name, [](Pod& pod) { pod.grace = 24h; });
    state.UpsertPod(api.pod(name));
  }
  After(1min);
  for (int i = 0; i < 119; ++i) After(30s);
  EXPECT_TRUE(HasPlace("m-0"));
  After(1min);
  EXPECT_FALSE(HasPlace("m-0"));
}

}  // namespace
}  // namespace synergy::controller
