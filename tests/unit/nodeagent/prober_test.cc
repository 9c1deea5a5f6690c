#include "nodeagent/guarded/prober.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nodeagent/guarded/temporary_writes.h"
#include "support/fake_clock.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"

namespace synergy::nodeagent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

// Acts as control groups and their guardian.
struct FakeQuotas final : CpuQuotas, TemporaryWriter {
  Result<QuotaPlan> Plan(const wire::ResizeStatus& pod, const wire::ResizeStatus::Container&,
                         const CpuProbe& probe) override {
    if (probe.cpu < MilliCpu(10)) return Fail(ErrorCode::kInvalid, "too little");
    const std::string text = std::to_string(100 * probe.cpu.count());
    QuotaPlan plan{{"/groups/" + pod.uid, text}};
    if (probe.burst) plan.push_back({"/groups/" + pod.uid + "/train", text});
    return plan;
  }
  Result<std::string> Read(const std::string& file) override {
    if (!texts.contains(file)) return Fail(ErrorCode::kNotFound, "no group");
    return texts[file];
  }
  Result<> Begin(const std::string& file, const std::string& text, Duration time) override {
    if (dead || file == refused) return Fail(ErrorCode::kUnavailable, "the guardian is gone");
    texts[file] = text;
    longest = time;
    return {};
  }
  Result<> End(const std::string& file) override {
    texts.erase(file);
    order.push_back(file);
    ++ended;
    return {};
  }

  std::map<std::string, std::string> texts;  // group with a temporary quota -> its text
  Duration longest{};
  std::vector<std::string> order;  // the order in which quotas were restored
  std::string refused;             // path of a file that cannot be written
  int ended = 0;
  bool dead = false;
};

class ProberTest : public ::testing::Test {
 protected:
  ProberTest() {
    pods.Replace({});
    prober.Step();
  }
  wire::ResizeStatus Pod(const std::string& name,
                         std::optional<CpuProbe> probe = std::nullopt) const {
    wire::ResizeStatus pod;
    pod.uid = "uid-" + name;
    pod.pod_namespace = "team";
    pod.name = name;
    pod.managed = true;
    pod.containers.push_back({"train", "containerd://" + name, {}, {}});
    ManagedContainer fungible;
    fungible.container = "train";
    fungible.probe = probe;
    pod.fungible = std::make_shared<const ManagedContainer>(fungible);
    return pod;
  }
  CpuProbe Probe(Duration time = seconds(20), MilliCpu cpu = MilliCpu(75)) const {
    return {cpu, clock.WallNow() + time};
  }
  void ExpectCounted(const std::string& outcome, int count) const {
    EXPECT_THAT(metrics.Render(), HasSubstr("synergy_node_agent_probes_total{outcome=\"" + outcome +
                                            "\"} " + std::to_string(count) + "\n"));
  }

  testing::FakeClock clock;
  testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::NodeAgentMetrics metrics;
  testing::RecordedEvents events;
  FakeQuotas quotas;
  NodePods pods;
  PodActs acts;
  Prober prober{pods, quotas, quotas, acts, clock, log, events, metrics};
};

TEST_F(ProberTest, AProbeLastsUntilItsTimeIsOver) {
  const WallTime since = clock.WallNow();
  pods.Upsert(Pod("a", Probe(milliseconds(1500))));
  EXPECT_EQ(prober.Step(), seconds(1));
  EXPECT_THAT(quotas.texts, ElementsAre(Pair("/groups/uid-a", "7500")));
  // The limit is somewhat later, so that the guardian acts if this process does not.
  EXPECT_EQ(quotas.longest, milliseconds(6500));
  EXPECT_THAT(prober.Readings(),
              ElementsAre(Pair("uid-a", ProbeReading{MilliCpu(75), since, false})));
  ASSERT_THAT(events.lines(), SizeIs(1));
  EXPECT_EQ(events.all[0].reason, "SynergyProbed");
  EXPECT_THAT(acts.Of("uid-a"), ElementsAre(PodAct{"probe", since}));
  EXPECT_EQ(events.all[0].object_uid, "uid-a");
  EXPECT_THAT(events.all[0].message,
              HasSubstr("at most 75m of CPU until 2026-01-02T00:00:01.500000Z"));

  clock.Advance(seconds(1));
  EXPECT_EQ(prober.Step(), milliseconds(500));
  clock.Advance(milliseconds(500));
  prober.Step();
  EXPECT_THAT(quotas.texts, IsEmpty());
  EXPECT_THAT(prober.Readings(), IsEmpty());
  ExpectCounted("done", 1);
  // The annotation is still there.
  prober.Step();
  EXPECT_THAT(quotas.texts, IsEmpty());
  EXPECT_EQ(quotas.ended, 1);
}

TEST_F(ProberTest, NoneLastsForLongerThanTwoMinutes) {
  pods.Upsert(Pod("a", Probe(hours(1))));
  prober.Step();
  EXPECT_EQ(quotas.longest, kLongestWrite);
  clock.Advance(kLongestWrite);
  prober.Step();
  EXPECT_THAT(quotas.texts, IsEmpty());
  prober.Step();
  EXPECT_THAT(quotas.texts, IsEmpty());
  ExpectCounted("done", 1);
}

TEST_F(ProberTest, AClockThatIsSetDoesNotMakeItLonger) {
  pods.Upsert(Pod("a", Probe(seconds(20))));
  prober.Step();
  clock.SetWall(clock.WallNow() - hours(1));
  clock.Advance(seconds(20));
  prober.Step();
  EXPECT_THAT(quotas.texts, IsEmpty());
}

TEST_F(ProberTest, EndsWithTheAnnotationTheContainerOrThePod) {
  const auto begin = [this] {
    clock.Advance(seconds(1));
    pods.Upsert(Pod("a", Probe()));
    prober.Step();
    ASSERT_THAT(quotas.texts, SizeIs(1));
  };
  const auto expect_end = [this](int count) {
    prober.Step();
    EXPECT_THAT(quotas.texts, IsEmpty());
    EXPECT_THAT(prober.Readings(), IsEmpty());
    ExpectCounted("ended_early", count);
  };
  begin();
  pods.Upsert(Pod("a"));
  expect_end(1);

  begin();
  wire::ResizeStatus restarted = Pod("a", pods.All()[0]->fungible->probe);
  restarted.containers[0].id = "containerd://next";
  pods.Upsert(restarted);
  expect_end(2);

  begin();
  wire::ResizeStatus leaving = Pod("a", pods.All()[0]->fungible->probe);
  leaving.deleting = true;
  pods.Upsert(leaving);
  expect_end(3);

  begin();
  pods.Remove(Pod("a"));
  expect_end(4);
}

TEST_F(ProberTest, AnotherProbeOfThePodTakesThePlaceOfTheFirst) {
  pods.Upsert(Pod("a", Probe()));
  prober.Step();
  pods.Upsert(Pod("a", Probe(seconds(30), MilliCpu(50))));
  prober.Step();
  EXPECT_EQ(quotas.ended, 1);
  EXPECT_THAT(quotas.texts, ElementsAre(Pair("/groups/uid-a", "5000")));
}

TEST_F(ProberTest, NeverTwoAtOnceOnTheNode) {
  pods.Upsert(Pod("b", Probe()));
  prober.Step();
  pods.Upsert(Pod("a", Probe()));
  prober.Step();
  EXPECT_THAT(quotas.texts, ElementsAre(Pair("/groups/uid-b", "7500")));
  ExpectCounted("refused", 1);
  // The probe is not started later, because by then its requester has no report of it.
  pods.Remove(Pod("b"));
  prober.Step();
  prober.Step();
  EXPECT_THAT(quotas.texts, IsEmpty());
  pods.Upsert(Pod("a", Probe(seconds(21))));
  prober.Step();
  EXPECT_THAT(quotas.texts, SizeIs(1));
}

TEST_F(ProberTest, BurstsOfSeveralPodsRunBesideAProbe) {
  const auto burst = [this] {
    return CpuProbe{MilliCpu(280), clock.WallNow() + seconds(20), true};
  };
  pods.Upsert(Pod("a", burst()));
  pods.Upsert(Pod("b", Probe()));
  pods.Upsert(Pod("c", burst()));
  prober.Step();
  EXPECT_THAT(prober.Readings(), SizeIs(3));
  EXPECT_EQ(prober.Readings().at("uid-a").cpu, MilliCpu(280));
  EXPECT_EQ(events.all[0].reason, "SynergyBurst");
  EXPECT_THAT(events.all[0].message, HasSubstr("up to 280m of CPU"));
  clock.Advance(seconds(20));
  prober.Step();
  EXPECT_THAT(quotas.texts, IsEmpty());
  ExpectCounted("done", 3);
}

TEST_F(ProberTest, ABurstIsRestoredInTheOppositeOrder) {
  pods.Upsert(Pod("a", CpuProbe{MilliCpu(280), clock.WallNow() + seconds(20), true}));
  prober.Step();
  pods.Upsert(Pod("a"));
  prober.Step();
  EXPECT_THAT(quotas.order, ElementsAre("/groups/uid-a/train", "/groups/uid-a"));
}

TEST_F(ProberTest, ABurstThatCannotBeWrittenAsAWholeIsTakenBack) {
  quotas.refused = "/groups/uid-a/train";
  pods.Upsert(Pod("a", CpuProbe{MilliCpu(280), clock.WallNow() + seconds(20), true}));
  prober.Step();
  EXPECT_THAT(quotas.texts, IsEmpty());
  EXPECT_THAT(prober.Readings(), IsEmpty());
  ExpectCounted("refused", 1);
}

TEST_F(ProberTest, AForeignQuotaOfAPodEndsItsBurstAsWiped) {
  pods.Upsert(Pod("a", CpuProbe{MilliCpu(280), clock.WallNow() + seconds(20), true}));
  prober.Step();
  quotas.texts["/groups/uid-a/train"] = "28000 100000";
  prober.Step();
  EXPECT_TRUE(prober.Readings().at("uid-a").wiped);
}

TEST_F(ProberTest, OnlyManagedPodsAreProbed) {
  wire::ResizeStatus other = Pod("a", Probe());
  other.managed = false;
  pods.Upsert(other);
  wire::ResizeStatus ended = Pod("b", Probe());
  ended.terminal = true;
  pods.Upsert(ended);
  pods.Upsert(Pod("c", Probe(seconds(0))));
  prober.Step();
  EXPECT_THAT(quotas.texts, IsEmpty());
  ExpectCounted("refused", 0);
}

TEST_F(ProberTest, ReportsAndLeavesAForeignQuota) {
  pods.Upsert(Pod("a", Probe()));
  prober.Step();
  quotas.texts["/groups/uid-a"] = "-1";
  prober.Step();
  EXPECT_TRUE(prober.Readings().at("uid-a").wiped);
  // The state does not change any more.
  quotas.texts["/groups/uid-a"] = "7500";
  prober.Step();
  EXPECT_TRUE(prober.Readings().at("uid-a").wiped);
  EXPECT_EQ(quotas.ended, 0);
  clock.Advance(seconds(20));
  prober.Step();
  EXPECT_EQ(quotas.ended, 1);
  ExpectCounted("wiped", 1);
  ExpectCounted("done", 0);
}

TEST_F(ProberTest, ReportsAForeignQuotaAtTheEndToo) {
  pods.Upsert(Pod("a", Probe()));
  prober.Step();
  quotas.texts["/groups/uid-a"] = "-1";
  pods.Upsert(Pod("a"));
  prober.Step();
  ExpectCounted("wiped", 1);
  ExpectCounted("ended_early", 0);
}

TEST_F(ProberTest, RefusesImpossibleProbes) {
  pods.Upsert(Pod("a", Probe(seconds(20), MilliCpu(5))));
  prober.Step();
  ExpectCounted("refused", 1);
  quotas.dead = true;
  pods.Upsert(Pod("a", Probe(seconds(30))));
  prober.Step();
  ExpectCounted("refused", 2);
  EXPECT_THAT(prober.Readings(), IsEmpty());
  EXPECT_THAT(events.lines(), IsEmpty());
}

TEST_F(ProberTest, DoesNotRestartAProbeOfAnEarlierAgent) {
  NodePods found;
  Prober next(found, quotas, quotas, acts, clock, log, events, metrics);
  next.Step();
  found.Replace({Pod("a", Probe())});
  next.Step();
  found.Replace({Pod("a", Probe())});
  next.Step();
  EXPECT_THAT(quotas.texts, IsEmpty());
  found.Upsert(Pod("a", Probe(seconds(40))));
  next.Step();
  EXPECT_THAT(quotas.texts, SizeIs(1));
}

TEST_F(ProberTest, StartsAProbeThatFollowsTheFirstList) {
  NodePods found;
  Prober next(found, quotas, quotas, acts, clock, log, events, metrics);
  found.Replace({Pod("a", Probe())});
  found.Upsert(Pod("a", Probe(seconds(40))));
  next.Step();
  EXPECT_THAT(quotas.texts, SizeIs(1));
}

}  // namespace
}  // namespace synergy::nodeagent
