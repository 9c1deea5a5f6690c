#include <chrono>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/profiler/profiler.h"
#include "profiler_fixture.h"

namespace synergy::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Kind = ProfilerActionKind;

TEST_F(ProfilerTest, BusyGpusAreAnEstimateThatSpeaksForMoreCpuAlone) {
  Begin(Unprofiled("a", "n1"), {.logs = false, .busy = true});
  Run(minutes(3));
  ASSERT_GE(Count(Kind::kPublish), 1U);
  EXPECT_EQ(Count(Kind::kProbe), 0U);
  const MeasuredProfile first = Last();
  EXPECT_TRUE(first.estimate);
  EXPECT_TRUE(first.censored) << "no pod gets less than its fair share";
  EXPECT_FALSE(first.confirmed);
  ASSERT_EQ(first.points.size(), 2U);
  EXPECT_EQ(first.points[0].cpu, Cores(3));
  EXPECT_NEAR(first.points[0].throughput, 0.6, 0.01);
  EXPECT_EQ(first.points[0].certainty, PointCertainty::kAtLeast);
  // With this CPU the GPU would be busy all the time.
  EXPECT_NEAR(static_cast<double>(first.points[1].cpu.count()), 5000, 60);
  EXPECT_NEAR(first.points[1].throughput, 1, 0.01);
  EXPECT_EQ(first.points[1].certainty, PointCertainty::kGuess);

  Put("a", [](ManagedContainer& fungible) {
    fungible.requested.cpu = fungible.in_force.cpu = fungible.set_aside.cpu = Cores(8);
  });
  Run(minutes(5));
  EXPECT_EQ(Count(Kind::kProbe), 0U);
  EXPECT_TRUE(Last().estimate && Last().censored);
  EXPECT_NEAR(MakeJobProfile(Last())->ThroughputAt(Cores(3), MiB(1)), 0.6, 0.01);
  EXPECT_NEAR(MakeJobProfile(Last())->ThroughputAt(MilliCpu(5300), MiB(1)), 1, 0.02);
  EXPECT_EQ(memory.measurements.begin()->second.complete, true);
}

TEST_F(ProfilerTest, AlwaysBusyGpuGivesNoConclusion) {
  // Whether it needs hardly any CPU, or more, cannot be observed.
  for (const double cost : {0.01, 0.5}) {
    Begin(Unprofiled("a", "n1", fmt::format("w-{}", cost)),
          {.cost = cost, .logs = false, .busy = true, .spins = true});
    Run(minutes(20));
    ASSERT_GE(Count(Kind::kPublish), 1U);
    EXPECT_EQ(Count(Kind::kProbe), 0U);
    ASSERT_EQ(Last().points.size(), 1U);
    EXPECT_EQ(Last().points[0].cpu, Cores(3));
    EXPECT_EQ(Last().points[0].certainty, PointCertainty::kAtLeast);
    EXPECT_TRUE(Last().censored && Last().estimate && !Last().confirmed && !Last().drifted);
    state.RemovePod("a");
    actions.clear();
  }
}

TEST_F(ProfilerTest, IterationsReplaceAnEstimate) {
  Begin(Unprofiled("a", "n1"), {.logs = false, .busy = true});
  Run(minutes(3));
  ASSERT_TRUE(Last().estimate);
  const int64_t revision = Last().revision;
  // The same pod's log now shows progress.
  trainings["a"].logs = true;
  Run(minutes(10));
  EXPECT_FALSE(Last().estimate);
  EXPECT_TRUE(Last().confirmed);
  EXPECT_FALSE(Last().drifted);
  EXPECT_GT(Last().revision, revision);
  EXPECT_NEAR(MakeJobProfile(Last())->ThroughputAt(Cores(3), MiB(1)), 6, 0.1);
  for (const MeasuredProfile& measured : Published()) {
    for (const MeasuredPoint& point : measured.points)
      EXPECT_EQ(point.throughput <= 1.01, measured.estimate) << "never mixed";
  }
}

TEST_F(ProfilerTest, AnEstimateNeverReplacesIterations) {
  HaveNode("n2");
  Begin(Unprofiled("a", "n1"));
  Run(seconds(20));  // the training warms up
  Begin(Unprofiled("b", "n2"), {.best = 4, .logs = false, .busy = true});
  Run(minutes(10));
  ASSERT_GE(Count(Kind::kPublish), 1U);
  state.RemovePod("a");
  trainings.erase("a");
  Run(minutes(10));
  for (const MeasuredProfile& measured : Published()) EXPECT_FALSE(measured.estimate);
  EXPECT_FALSE(Last().drifted);
}

TEST_F(ProfilerTest, NewLeaderKeepsAnEstimateAsAnEstimate) {
  Begin(Unprofiled("a", "n1"), {.logs = false, .busy = true});
  Run(minutes(3));
  memory = {};
  actions.clear();
  Run(minutes(3));
  EXPECT_EQ(Count(Kind::kProbe), 0U);
  for (const MeasuredProfile& measured : Published()) EXPECT_TRUE(measured.estimate);
  // A pod that reports its own progress starts without the estimate.
  memory = {};
  trainings["a"].logs = true;
  Run(minutes(10));
  EXPECT_TRUE(Last().confirmed && !Last().estimate);
}

}  // namespace
}  // namespace synergy::testing
