#include "controller/profiles/oom_watch.h"

#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/annotations.h"
#include "support/fake_clock.h"
#include "support/fake_pod_api.h"
#include "support/managed_pods.h"
#include "support/recorded_events.h"
#include "support/silent_log.h"

namespace synergy::controller {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using synergy::testing::ManagedPod;
using synergy::testing::OneGpu;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Tests a pod whose memory was cut a minute ago.
class OomWatchTest : public ::testing::Test {
 protected:
  OomWatchTest() {
    api.Put(ManagedPod("a", "n1", 3));
    api.ChangeManaged("a", [this](ManagedContainer& pod) {
      pod.change = ChangeRecord{ChangeKind::kReclaimed, OneGpu(3, 8), OneGpu(3, 4), "room",
                                clock.WallNow() - minutes(1)};
    });
  }

  void OomKill(Duration ago) {
    api.ChangeManaged("a", [&](ManagedContainer& pod) { pod.oom_killed = clock.WallNow() - ago; });
  }
  void Observe(bool gone = false) {
    watch.Observe({std::make_shared<const Pod>(api.pod("a")), gone});
  }
  std::string Kills(const std::string& reason) {
    const std::string text = metrics.Render();
    const std::string name = "synergy_tuner_memory_kills_total{reason=\"" + reason + "\"} ";
    const size_t at = text.find(name);
    return at == std::string::npos ? "none" : text.substr(at + name.size(), 1);
  }

  synergy::testing::FakeClock clock;
  synergy::testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::TunerMetrics metrics;
  ClusterState state;
  synergy::testing::FakePodApi api;
  synergy::testing::RecordedEvents events;
  OomWatch watch{state, api, events, [] { return true; }, clock, log, metrics, minutes(10)};
};

TEST_F(OomWatchTest, AnOomKillAfterAChangeEndsTheChangesOfThatPodsMemory) {
  Observe();
  EXPECT_FALSE(watch.pending());
  OomKill(seconds(5));
  Observe();
  watch.Act();
  EXPECT_TRUE(api.annotation("a", annotations::kMemoryLetBe));
  EXPECT_EQ(Kills("oom_killed"), "1");
  ASSERT_THAT(events.reasons(), ElementsAre("SynergyMemoryKill a"));
  EXPECT_EQ(events.all[0].type, "Warning");
  // All of these reports are about the same end.
  Observe();
  watch.Act();
  EXPECT_EQ(Kills("oom_killed"), "1");
  EXPECT_FALSE(watch.pending());
}

TEST_F(OomWatchTest, AnOomKillBeforeOrLongAfterAChangeIsTheJobsOwn) {
  OomKill(minutes(2));
  Observe();
  EXPECT_FALSE(watch.pending());
  clock.Advance(minutes(30));
  OomKill(seconds(5));
  Observe();
  EXPECT_FALSE(watch.pending());
  EXPECT_EQ(Kills("oom_killed"), "0");
}

TEST_F(OomWatchTest, AChangeOfCpuHasNothingToDoWithIt) {
  api.ChangeManaged("a", [this](ManagedContainer& pod) {
    pod.change = ChangeRecord{ChangeKind::kReclaimed, OneGpu(4), OneGpu(3), "room",
                              clock.WallNow() - minutes(1)};
  });
  OomKill(seconds(5));
  Observe();
  EXPECT_FALSE(watch.pending());
}

TEST_F(OomWatchTest, AChangeOfCpuDoesNotHideOneOfMemory) {
  api.ChangeManaged("a", [this](ManagedContainer& pod) {
    pod.change = ChangeRecord{
        ChangeKind::kReclaimed,      OneGpu(4), OneGpu(3), "room", clock.WallNow() - minutes(1),
        clock.WallNow() - minutes(4)};
  });
  OomKill(seconds(5));
  Observe();
  EXPECT_TRUE(watch.pending());
}

// The watch last reports a failed pod as it was before.
TEST_F(OomWatchTest, AsksHowAPodEndedThatWentByItself) {
  Observe(true);
  api.ChangeManaged("a", [](ManagedContainer& pod) { pod.evicted_for_memory = true; });
  watch.Act();
  EXPECT_EQ(Kills("evicted"), "1");
  ASSERT_THAT(events.reasons(), ElementsAre("SynergyMemoryKill a"));
  EXPECT_EQ(events.all[0].type, "Warning");
  EXPECT_FALSE(watch.pending());
}

TEST_F(OomWatchTest, APodThatEndedWellOrWasDeletedIsNoHarm) {
  Observe(true);
  watch.Act();
  api.Change("a", [](Pod& pod) { pod.deleting = true; });
  Observe(true);
  EXPECT_FALSE(watch.pending());
  api.Change("a", [](Pod& pod) { pod.deleting = false; });
  Observe(true);
  api.Remove("a");
  watch.Act();
  EXPECT_THAT(events.lines(), IsEmpty());
  EXPECT_EQ(Kills("evicted"), "0");
  EXPECT_FALSE(watch.pending());
}

TEST_F(OomWatchTest, TriesAgainWhatTheApiServerDidNotTake) {
  OomKill(seconds(5));
  Observe();
  api.Refuse("annotate", {ErrorCode::kUnavailable, "away"});
  watch.Act();
  EXPECT_TRUE(watch.pending());
  EXPECT_EQ(Kills("oom_killed"), "0");
  api.RefuseNothing();
  watch.Act();
  EXPECT_FALSE(watch.pending());
  EXPECT_EQ(Kills("oom_killed"), "1");
}

}  // namespace
}  // namespace synergy::controller
