#include "controller/profiling/profiling_actions.h"

#include <chrono>
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/annotations.h"
#include "core/wall_time.h"
#include "unit/controller/profiling_fixture.h"

namespace synergy::controller {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ProfilingActionsTest : public ProfilingFixture {
 protected:
  bool Do(const ProfilerAction& action) { return actions.Do(action, {}).has_value(); }
  ProfilerAction ProbeOf(const std::string& name) {
    return {.kind = ProfilerActionKind::kProbe,
            .pod = std::make_shared<const Pod>(pods.pod(name)),
            .probe = {MilliCpu(75), clock.WallNow() + seconds(30)},
            .why = "to measure its speed with that"};
  }
  ProfilerAction EndOf(const std::string& name) {
    ProfilerAction action = ProbeOf(name);
    action.kind = ProfilerActionKind::kEndProbe;
    return action;
  }
  ProfilerAction Publishing(int64_t revision) const {
    return {.kind = ProfilerActionKind::kPublish,
            .profile_namespace = "team",
            .measured = MeasuredBert(revision),
            .why = "its first curve"};
  }
  void ExpectProfilingCount(const std::string& line) {
    EXPECT_THAT("\n" + metrics.Render(), HasSubstr("\n" + line + "\n"));
  }

  metrics::ProfilingMetrics metrics;
  ProfilingActions actions{state, profiles, pods, api, log, metrics, [this] { return may_act; }};
};

TEST_F(ProfilingActionsTest, AProbeIsAnAnnotationThatTheNodeAgentCarriesOut) {
  HaveRunning("a");
  EXPECT_TRUE(Do(ProbeOf("a")));
  EXPECT_EQ(pods.annotation("a", annotations::kProbe),
            R"({"cpu":"75m","until":")" + ToTimeText(clock.WallNow() + seconds(30)) + "\"}");
  EXPECT_THAT(events.lines(), IsEmpty()) << "the agent that carries it out says so";
  ExpectProfilingCount(R"(synergy_profiling_probes_total{outcome="begun"} 1)");
  EXPECT_TRUE(Do(EndOf("a")));
  EXPECT_FALSE(pods.annotation("a", annotations::kProbe));
  ExpectProfilingCount(R"(synergy_profiling_probes_total{outcome="ended"} 1)");
}

TEST_F(ProfilingActionsTest, FailedCallDoesNotCountAsDone) {
  HaveRunning("a");
  pods.Refuse("annotate", {ErrorCode::kUnavailable, "no answer"});
  EXPECT_FALSE(Do(ProbeOf("a")));
  EXPECT_FALSE(Do(EndOf("a")));
  EXPECT_THAT(events.lines(), IsEmpty());
  ExpectProfilingCount(R"(synergy_profiling_probes_total{outcome="failed"} 1)");
  api.failure = {ErrorCode::kUnavailable, "no answer"};
  EXPECT_FALSE(Do(Publishing(1)));
  ExpectProfilingCount(R"(synergy_profiling_published_total{outcome="failed"} 1)");
}

TEST_F(ProfilingActionsTest, TheProbeOfAPodThatIsGoneIsOver) {
  HaveRunning("a");
  const ProfilerAction end = EndOf("a");
  pods.Remove("a");
  EXPECT_TRUE(Do(end));
}

TEST_F(ProfilingActionsTest, DoesNothingUnlessItMayAct) {
  HaveRunning("a");
  may_act = false;
  for (const ProfilerAction& action : {ProbeOf("a"), EndOf("a"), Publishing(1)})
    EXPECT_FALSE(Do(action));
  std::stop_source stop;
  stop.request_stop();
  may_act = true;
  EXPECT_FALSE(actions.Do(ProbeOf("a"), stop.get_token()).has_value());
  EXPECT_THAT(pods.calls(), IsEmpty());
  EXPECT_THAT(api.calls, IsEmpty());
}

TEST_F(ProfilingActionsTest, EachWriteAsksAgainWhetherItMayBeMade) {
  int asked = 0;
  ProfilingActions once(state, profiles, pods, api, log, metrics,
                        [&asked] { return ++asked == 1; });
  EXPECT_FALSE(once.Do(Publishing(1), {}));
  EXPECT_THAT(api.calls, IsEmpty());
}

TEST_F(ProfilingActionsTest, TheFirstRevisionMakesTheObjectAndLaterOnesWriteIt) {
  const std::string key = "team/" + name_;
  EXPECT_TRUE(Do(Publishing(1)));
  EXPECT_THAT(api.calls, ElementsAre("create " + key, "write " + key));
  EXPECT_TRUE(Do(Publishing(2)));
  EXPECT_THAT(api.calls, ElementsAre("create " + key, "write " + key, "write " + key));
  EXPECT_EQ(profiles.Find("team", name_)->object.PointsGeneration(), 2);
  ExpectProfilingCount(R"(synergy_profiling_published_total{outcome="published"} 2)");
}

TEST_F(ProfilingActionsTest, AnObjectThatIsGoneIsMadeAnew) {
  const std::string key = "team/" + name_;
  HaveMeasured(MeasuredBert());
  api.write_failure = {ErrorCode::kNotFound, "gone"};
  EXPECT_TRUE(Do(Publishing(2)));
  EXPECT_THAT(api.calls, ElementsAre("write " + key, "create " + key, "write " + key));
}

TEST_F(ProfilingActionsTest, LeavesAUsersProfileOfTheSameName) {
  ProfileObject theirs;
  theirs.profile_namespace = "team";
  theirs.name = name_;
  profiles.Upsert(theirs);
  EXPECT_FALSE(Do(Publishing(1)));
  EXPECT_THAT(api.calls, IsEmpty());
}

}  // namespace
}  // namespace synergy::controller
