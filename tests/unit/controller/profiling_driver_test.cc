#include "controller/profiling/profiling_driver.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/annotations.h"
#include "controller/profiles/profile_mismatch.h"
#include "controller/profiles/status_writer.h"
#include "metrics/controller_metrics.h"
#include "unit/controller/profiling_fixture.h"

namespace synergy::controller {
namespace {

using std::chrono::seconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ProfilingDriverTest : public ProfilingFixture {
 protected:
  void Observe(const std::string& name, const std::string& node = "n1") {
    PodProgress progress{.uid = name, .pod_namespace = "team", .name = name, .format = "tqdm"};
    progress.iterations = 1;
    progress.last = clock.WallNow();
    store.Observe(node, {}, {progress}, clock.Present());
  }
  void Step() { driver.Step({}); }
  // Ten iterations per second take half a core; with less CPU the training is proportionally
  // slower. Its agent reports every 2 s, and carries out probes.
  void Train(const std::string& name, Duration time) {
    constexpr Duration kReport = seconds(2);
    for (Duration passed{}; passed < time; passed += kReport) {
      clock.Advance(kReport);
      const auto probe = pods.pod(name).fungible->probe;
      if (!probe || probe->until <= clock.WallNow()) {
        report.probe.reset();
      } else if (!report.probe) {
        report.probe = ProbeReading{probe->cpu, clock.WallNow()};
      }
      const double cores =
          std::min(0.5, report.probe ? static_cast<double>(report.probe->cpu.count()) / 1000 : 0.5);
      const double share = cores / 0.5;
      report.uid = report.name = name;
      report.pod_namespace = "team";
      report.container = "train";
      report.iterations += 20 * share;
      report.last = clock.WallNow();
      CpuUse& cpu = report.cpu ? *report.cpu : report.cpu.emplace();
      cpu.used += Duration(static_cast<int64_t>(cores * 2e9));
      if (share < 1) cpu.throttled += kReport / 2;
      cpu.waited = Duration::zero();
      cpu.at = clock.WallNow();
      if (report.memory) report.memory->at = clock.WallNow();
      store.Observe("n1", {}, {report}, clock.Present());
      Step();
    }
  }

  PodProgress report{.format = "tqdm"};

  metrics::ProfilingMetrics metrics;
  ProfilingActions actions{state, profiles, pods, api, log, metrics, [this] { return may_act; }};
  ProgressStore store;
  StoredMeasurements measurements{profiles};
  Profiler profiler{{}, measurements};
  std::set<std::string> watched;
  ProfileMismatch mismatch{ProfilerSettings{}, profiles, events, log};
  ProfilingDriver driver{
      profiler, state, store, actions, mismatch, clock, [this](std::set<std::string> nodes) {
        watched = std::move(nodes);
      }};
};

TEST_F(ProfilingDriverTest, NodesWithPodsThatAreMeasuredAreWatchedCloselyForAWhile) {
  HaveNode("n2", "A100");
  HaveRunning("new");
  HaveRunning("known", "n2");
  pods.ChangeManaged("known", [this](ManagedContainer& fungible) { fungible.profile = name_; });
  See("known");
  driver.StartOver();
  Observe("new");
  Observe("known", "n2");
  Step();
  EXPECT_THAT(watched, ElementsAre("n1"));
  clock.Advance(seconds(10));
  Step();
  EXPECT_THAT(watched, ElementsAre("n1")) << "its agent may be slow";
  clock.Advance(seconds(10));
  Step();
  EXPECT_THAT(watched, IsEmpty());
  Observe("new");
  Step();
  driver.Rest();
  EXPECT_THAT(watched, IsEmpty());
}

TEST_F(ProfilingDriverTest, WatchesAPodWithABusyEstimateToo) {
  HaveRunning("silent");
  driver.StartOver();
  PodProgress progress{.uid = "silent", .pod_namespace = "team", .name = "silent"};
  store.Observe("n1", {}, {progress}, clock.Present());
  Step();
  EXPECT_THAT(watched, IsEmpty());
  progress.estimate = BusyEstimate{.busy = 50, .rate = 0.8, .at = clock.WallNow()};
  store.Observe("n1", {}, {progress}, clock.Present());
  Step();
  EXPECT_THAT(watched, ElementsAre("n1"));
}

TEST_F(ProfilingDriverTest, APodThatTrainsIsMeasuredPublishedAndGivenWhatWasMeasured) {
  HaveRunning("a");
  driver.StartOver();
  Train("a", seconds(200));
  const auto measured = measurements.Find("team", name_);
  ASSERT_NE(measured, nullptr);
  EXPECT_EQ(measured->workload, "bert");
  ASSERT_FALSE(measured->points.empty());
  EXPECT_NEAR(measured->points.back().throughput, 10, 0.5);
  EXPECT_THAT(api.calls.front(), HasSubstr("create team/" + name_));
  EXPECT_THAT(pods.calls(), Contains("annotate a synergy.io/probe"));
  EXPECT_FALSE(pods.annotation("a", annotations::kProbe)) << "it has ended";
  EXPECT_TRUE(measured->confirmed);
}

TEST_F(ProfilingDriverTest, ACheckpointInItsLogMakesItsMemorySure) {
  HaveRunning("a");
  driver.StartOver();
  report.memory = MemoryUse{.process = GB(8)};
  Train("a", seconds(400));
  ASSERT_NE(measurements.Find("team", name_), nullptr);
  EXPECT_FALSE(measurements.Find("team", name_)->memory);
  report.checkpoint = clock.WallNow();
  Train("a", seconds(60));
  const auto& memory = measurements.Find("team", name_)->memory;
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->process, GB(8));
  EXPECT_TRUE(memory->confirmed);
}

TEST_F(ProfilingDriverTest, WhileTheApiServerIsAwayNothingIsLostButTime) {
  HaveRunning("a");
  driver.StartOver();
  api.failure = {ErrorCode::kUnavailable, "no answer"};
  Train("a", seconds(120));
  EXPECT_EQ(measurements.Find("team", name_), nullptr);
  api.failure.reset();
  Train("a", seconds(120));
  EXPECT_NE(measurements.Find("team", name_), nullptr);
}

TEST_F(ProfilingDriverTest, OnlySoManyNodesAreWatchedClosely) {
  driver.StartOver();
  for (size_t i = 0; i < ProfilingDriver::kMostWatched + 10; ++i) {
    const std::string name = std::to_string(i);
    HaveNode("m" + name, "A100");
    HaveRunning(name, "m" + name);
    Observe(name, "m" + name);
  }
  Step();
  EXPECT_EQ(watched.size(), ProfilingDriver::kMostWatched);
}

TEST_F(ProfilingDriverTest, RemovesALeftoverProbe) {
  HaveRunning("a");
  pods.ChangeManaged("a", [this](ManagedContainer& fungible) {
    fungible.probe = CpuProbe{MilliCpu(75), clock.WallNow() + seconds(20)};
  });
  See("a");
  driver.StartOver();
  Step();
  clock.Advance(seconds(20));
  Step();
  EXPECT_THAT(pods.calls(), IsEmpty());
  clock.Advance(seconds(10));
  Step();
  EXPECT_THAT(pods.calls(), ElementsAre("annotate a synergy.io/probe-"));
  clock.Advance(seconds(10));
  Step();
  EXPECT_EQ(pods.calls().size(), 1U);
}

TEST_F(ProfilingDriverTest, ALeftoverProbeThatCannotBeRemovedDelaysNoOther) {
  for (const char* const name : {"a", "b"}) {
    HaveRunning(name);
    pods.ChangeManaged(name, [this](ManagedContainer& fungible) {
      fungible.probe = CpuProbe{MilliCpu(75), clock.WallNow()};
    });
    See(name);
  }
  driver.StartOver();
  clock.Advance(seconds(10));
  std::string refused;  // the first one tried
  pods.before_call = [&refused](std::string_view call) -> Result<> {
    if (refused.empty()) refused = call;
    if (call != refused) return {};
    return Fail(ErrorCode::kDenied, "a policy");
  };
  Step();
  EXPECT_NE(pods.pod("a").fungible->probe.has_value(), pods.pod("b").fungible->probe.has_value());
}

// The profile's author claims that the pod is three times as fast with three cores as with one.
TEST_F(ProfilingDriverTest, ReportsAContradictedProfileUntilPodsFit) {
  ProfileObject given;
  given.uid = "given";
  given.profile_namespace = "team";
  given.name = "given";
  given.generation = 4;
  given.profile = std::make_shared<const JobProfile>(
      *JobProfile::Create(Gpus(1), {{Cores(1), GiB(4), 1}, {Cores(3), GiB(4), 3}}));
  profiles.Upsert(given);
  HaveRunning("a");
  const auto give = [this](int64_t cores) {
    pods.ChangeManaged("a", [cores](ManagedContainer& fungible) {
      fungible.profile = "given";
      fungible.cpu_limit = fungible.requested.cpu = fungible.in_force.cpu = Cores(cores);
    });
    See("a");
  };
  give(3);
  driver.StartOver();
  Train("a", std::chrono::minutes(4));
  give(1);
  Train("a", std::chrono::minutes(9));
  EXPECT_EQ(mismatch.Of(given).verdict, Verdict::kContradicted);
  ProfileObject other = given;
  other.generation = 5;
  EXPECT_EQ(mismatch.Of(other), ProfileVerdict{});
  other = given;
  other.uid = "created again";
  EXPECT_EQ(mismatch.Of(other), ProfileVerdict{});
  EXPECT_THAT(
      events.lines(),
      ElementsAre(HasSubstr(
          "SynergyProfileContradicted a: its speed contradicts profile given: with 3 of CPU")));
  EXPECT_THAT(api.calls, IsEmpty()) << "nothing is published of it";

  metrics::ControllerMetrics controller_metrics;
  StatusWriter writer{
      api, profiles,           state,    clock, log, controller_metrics, [] { return true; },
      {},  kDefaultMaxSpeedUp, &mismatch};
  writer.WriteIfDue({});
  ASSERT_FALSE(api.statuses.empty());
  EXPECT_THAT(api.statuses.back().second.contradiction, HasSubstr("with 3 of CPU"));

  driver.StartOver();
  EXPECT_EQ(mismatch.Of(given).verdict, Verdict::kUnknown);
}

}  // namespace
}  // namespace synergy::controller
