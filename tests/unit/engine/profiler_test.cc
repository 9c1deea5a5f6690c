#include "engine/profiler/profiler.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "profiler_fixture.h"

namespace synergy::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Kind = ProfilerActionKind;

TEST_F(ProfilerTest, FirstProfileFollowsFromProgressAlone) {
  Begin(Unprofiled("a", "n1"));
  Run(seconds(48));
  EXPECT_EQ(actions.size(), 0U);  // a warm-up and a window are not over
  Run(seconds(8));
  ASSERT_EQ(Count(Kind::kPublish), 1U);
  const ProfilerAction action = Of(Kind::kPublish).front();
  EXPECT_EQ(action.profile_namespace, "team");
  const MeasuredProfile& measured = action.measured;
  EXPECT_EQ(measured.workload, "w-1");
  EXPECT_EQ(measured.gpus, Gpus(1));
  EXPECT_EQ(measured.node, "n1");
  EXPECT_EQ(measured.revision, 1);
  EXPECT_FALSE(measured.confirmed);
  EXPECT_NEAR(*measured.cpu_seconds, 0.5, 0.01);
  // The training waits for CPU, so larger amounts are a guess.
  ASSERT_EQ(measured.points.size(), 2U);
  EXPECT_EQ(measured.points[0].cpu, Cores(3));
  EXPECT_NEAR(measured.points[0].throughput, 6, 0.05);
  EXPECT_EQ(measured.points[0].certainty, PointCertainty::kExact);
  EXPECT_EQ(measured.points[1].cpu, MilliCpu(12'000 - 3 * 20));  // 12 cores, with four GPUs
  EXPECT_EQ(measured.points[1].certainty, PointCertainty::kGuess);
}

TEST_F(ProfilerTest, PublishesMemorySoonAndAgainOnceCertain) {
  Begin(Unprofiled("a", "n1"), {.reads = 10e6});
  Run(minutes(4));
  ASSERT_GE(Count(Kind::kPublish), 1U);
  EXPECT_FALSE(Last().memory);
  // In this time it reads two epochs of 2 GB, at 60 MB per second or less.
  Run(minutes(4));
  ASSERT_TRUE(Last().memory);
  EXPECT_EQ(Last().memory->process, GB(8));
  EXPECT_NEAR(static_cast<double>(Last().memory->data_set.count()), 2e9, 0.15e9);
  EXPECT_FALSE(Last().memory->confirmed);
  const size_t soon = Count(Kind::kPublish);
  Run(minutes(60));
  EXPECT_TRUE(Last().memory->confirmed);
  EXPECT_LE(Count(Kind::kPublish), soon + 4) << "not with every look";

  // Another leader uses the published profile.
  memory = {};
  Run(minutes(20));
  EXPECT_TRUE(Last().memory->confirmed);
  EXPECT_TRUE(memory.measurements.begin()->second.memory->confirmed);
}

TEST_F(ProfilerTest, MemoryIsConfirmedOnceACheckpointWasWritten) {
  Begin(Unprofiled("a", "n1"), {.reads = 10e6});
  Run(minutes(10));
  ASSERT_TRUE(Last().memory);
  EXPECT_FALSE(Last().memory->confirmed);
  trainings["a"].checkpoint = at.wall;
  Run(minutes(1));
  EXPECT_TRUE(Last().memory->confirmed);
}

TEST_F(ProfilerTest, ARaiseOfMemoryEndsOnceAPodHasOutlivedIt) {
  Begin(Unprofiled("a", "n1"), {.reads = 10e6});
  Run(minutes(70));
  ASSERT_TRUE(Last().memory->confirmed);
  // A pod of the same workload is killed after 20 minutes.
  MeasuredProfile& published = catalog.profiles.begin()->second;
  published.raise = MemoryRaise{
      .process = GB(12), .too_small = GB(9), .times = 1, .at = at.wall, .ran = minutes(20)};
  EXPECT_EQ(ProcessMemoryOf(published), GB(12));
  Run(minutes(30));
  EXPECT_FALSE(Last().memory->raise_over) << "the pod was watched before the raise, too";
  state.RemovePod("a");
  Run(minutes(1));
  const auto begin = [&](const std::string& name, Bytes limit) {
    Begin(With(Unprofiled(name, "n1"),
               [&](ManagedContainer& fungible) { fungible.memory_limit = limit; }),
          {.reads = 10e6});
  };
  begin("small", GB(10));
  Run(minutes(65));
  EXPECT_FALSE(Last().memory->raise_over) << "its limit is the old one";
  begin("large", GB(14));
  trainings["large"].checkpoint = at.wall + minutes(1);
  Run(minutes(18));
  EXPECT_FALSE(Last().memory->raise_over) << "the killed one ran longer";
  Run(minutes(5));
  EXPECT_EQ(Last().memory->raise_over, published.raise->at);
  EXPECT_EQ(Last().memory->process, GB(8));
  EXPECT_EQ(ProcessMemoryOf(published), GB(9)) << "never less than a process was killed at";
  // Another leader finds that, and the next raise counts again.
  memory = {};
  Run(minutes(2));
  EXPECT_EQ(memory.measurements.begin()->second.memory->raise_over, published.raise->at);
  published.raise->at += minutes(60);
  EXPECT_EQ(ProcessMemoryOf(published), GB(12));
}

TEST_F(ProfilerTest, FirstReportShowsThatATrainingIsWarm) {
  Begin(Unprofiled("a", "n1"), {.rate = 5});  // plus 100 iterations, which take 20 s
  Run(seconds(30));
  EXPECT_EQ(Count(Kind::kPublish), 0U);
  Run(seconds(8));
  EXPECT_EQ(Count(Kind::kPublish), 1U);
}

TEST_F(ProfilerTest, ConfirmsTheSlopeByAProbe) {
  Begin(Unprofiled("a", "n1"));
  Run(minutes(6));
  ASSERT_EQ(Count(Kind::kProbe), 1U);
  EXPECT_EQ(Of(Kind::kProbe)[0].probe.cpu, MilliCpu(1500));
  EXPECT_EQ(Count(Kind::kEndProbe), 1U);
  const MeasuredProfile measured = Last();
  EXPECT_TRUE(measured.confirmed);
  EXPECT_EQ(measured.probes, 1);
  EXPECT_NEAR(measured.points[0].throughput, 3, 0.05);
  // It lost three iterations per second for about 20 s.
  EXPECT_GT(measured.lost_iterations, 30);
  EXPECT_LT(measured.lost_iterations, 120);
  // After that no pod is observed closely.
  EXPECT_TRUE(memory.measurements.begin()->second.closely.empty());
  EXPECT_LE(memory.pods.at("a").samples.size(), 6U);
}

TEST_F(ProfilerTest, LowersThoseThatNeedLittleOnlyAfterAProbe) {
  Begin(Unprofiled("a", "n1"), {.best = 10, .cost = 0.01});
  Run(seconds(56));
  ASSERT_EQ(Count(Kind::kPublish), 1U);
  ASSERT_EQ(Last().points.size(), 1U);
  EXPECT_EQ(Last().points[0].cpu, Cores(3));
  Run(minutes(2));
  EXPECT_EQ(Of(Kind::kProbe)[0].probe.cpu, MilliCpu(120));
  EXPECT_EQ(Count(Kind::kProbe), 1U);
  EXPECT_TRUE(Last().confirmed);
  EXPECT_EQ(Last().points[0].cpu, MilliCpu(120));
}

TEST_F(ProfilerTest, InsensitiveJobIsConfirmedBeforeItsLeastIsKnown) {
  Begin(Unprofiled("a", "n1"), {.best = 5, .cost = 0.5, .spare = 10});
  std::optional<Instant> confirmed;
  const Instant begin = at.now;
  while (at.now < begin + minutes(10)) {
    Run(seconds(2));
    if (Count(Kind::kPublish) == 0) continue;
    if (Last().confirmed && !confirmed) confirmed = at.now;
    EXPECT_EQ(Last().confirmed, confirmed.has_value()) << "and stays so";
    // The least amount of CPU that suffices becomes its floor.
    Put("a",
        [&](ManagedContainer& f) { f.floor.cpu = std::min(Last().points.front().cpu, Cores(3)); });
  }
  ASSERT_TRUE(confirmed);
  EXPECT_LE(*confirmed - begin, minutes(2));
  EXPECT_GE(Count(Kind::kProbe), 4U);
  EXPECT_LE(Last().points.front().cpu, MilliCpu(400));
}

TEST_F(ProfilerTest, MeasuresAPodWithMoreCpuThere) {
  Begin(Unprofiled("a", "n1"), {.best = 10, .cost = 0.57});
  Run(minutes(3));
  Put("a", [](ManagedContainer& fungible) {
    fungible.requested.cpu = fungible.in_force.cpu = fungible.set_aside.cpu = Cores(11);
  });
  Run(minutes(3));
  // The pod needs 5.7 cores; its measurement with 11 shows that.
  const std::vector<MeasuredPoint> points = Last().points;
  EXPECT_NE(points.back().certainty, PointCertainty::kGuess);
  EXPECT_NEAR(MakeJobProfile(Last())->ThroughputAt(Cores(6), MiB(1)), 10, 0.2);
}

TEST_F(ProfilerTest, LeavesPodsWithoutProgress) {
  Begin(Unprofiled("a", "n1"), {.logs = false});
  Run(minutes(10));
  EXPECT_TRUE(actions.empty());
}

TEST_F(ProfilerTest, LeavesPodsThatItDoesNotManage) {
  state.UpsertNode([] {
    Node node = NodeOfFour("n2");
    node.gpu_kinds.products = {"A100"};
    return node;
  }());
  Begin(ManagedPod("of-a-user", "n1", 3, "sensitive"));
  Begin(With(Unprofiled("no-workload", "n1"), [](ManagedContainer& f) { f.workload.clear(); }));
  Pod deleting = Unprofiled("deleting", "n1");
  deleting.deleting = true;
  Begin(deleting);
  Begin(With(Unprofiled("of-another-product", "n2"),
             [](ManagedContainer& f) { f.profile = MeasuredName("w-1", Gpus(1), "H100"); }));
  Run(minutes(3));
  EXPECT_TRUE(actions.empty());
  EXPECT_TRUE(memory.pods.empty());
  Begin(With(Unprofiled("of-ours", "n2"),
             [](ManagedContainer& f) { f.profile = MeasuredName("w-1", Gpus(1), "A100"); }));
  Run(minutes(1));
  ASSERT_EQ(Count(Kind::kPublish), 1U);
  EXPECT_EQ(Last().gpu_product, "A100");
}

TEST_F(ProfilerTest, GoesOnFromWhatWasPublished) {
  Begin(Unprofiled("a", "n1"));
  Run(minutes(4));
  const MeasuredProfile before = Last();
  ASSERT_TRUE(before.confirmed);
  actions.clear();
  memory = {};
  Run(minutes(5));
  EXPECT_TRUE(actions.empty());
  // The incomplete profile is completed.
  catalog.profiles.begin()->second.confirmed = false;
  memory = {};
  Run(minutes(4));
  EXPECT_EQ(Count(Kind::kProbe), 1U);
  EXPECT_EQ(Last().revision, before.revision + 1);
  EXPECT_GT(Last().lost_iterations, before.lost_iterations);
}

TEST_F(ProfilerTest, MeasuresAgainAfterAProfileWasRemoved) {
  Begin(Unprofiled("a", "n1"));
  Run(minutes(4));
  actions.clear();
  catalog.profiles.clear();
  Run(minutes(5));
  EXPECT_EQ(Count(Kind::kProbe), 1U);
  EXPECT_TRUE(Last().confirmed);
}

TEST_F(ProfilerTest, MarksWhatHasDriftedAndMeasuresItAnew) {
  Begin(Unprofiled("a", "n1"), {.best = 10, .cost = 0.1});
  Run(minutes(6));
  ASSERT_TRUE(Last().confirmed);
  const int64_t revision = Last().revision;
  trainings["a"].best = 7;
  Run(minutes(4));
  EXPECT_EQ(Last().revision, revision);
  Run(minutes(10));
  const auto published = Published();
  const auto marked = std::find_if(published.begin(), published.end(),
                                   [](const MeasuredProfile& m) { return m.drifted; });
  ASSERT_NE(marked, published.end());
  EXPECT_EQ(marked->revision, revision + 1);
  EXPECT_NEAR(marked->points.back().throughput, 10, 0.1);
  EXPECT_FALSE(Last().drifted);
  EXPECT_TRUE(Last().confirmed);
  EXPECT_NEAR(Last().points.back().throughput, 7, 0.1);
}

TEST_F(ProfilerTest, ContradictionOfANewCurveIsNoDrift) {
  Begin(Unprofiled("a", "n1"), {.best = 10, .cost = 0.1});
  while (actions.empty() || !Last().confirmed) Run(seconds(2));
  Run(minutes(1));
  trainings["a"].best = 5;  // a phase of the training
  Run(minutes(1));
  EXPECT_FALSE(Last().confirmed);
  EXPECT_FALSE(Last().drifted);
  EXPECT_NE(Last().note, "");
  const size_t before = actions.size();
  Run(minutes(55));
  EXPECT_EQ(actions.size(), before);  // the profile does not change
  Run(minutes(10));
  EXPECT_TRUE(Last().confirmed);
  EXPECT_EQ(Last().note, "");
  EXPECT_NEAR(Last().points.back().throughput, 5, 0.1);
}

TEST_F(ProfilerTest, AShortSlownessIsNoDrift) {
  Begin(Unprofiled("a", "n1"), {.best = 10, .cost = 0.1});
  Run(minutes(6));
  const size_t before = actions.size();
  trainings["a"].best = 7;
  Run(minutes(3));
  trainings["a"].best = 10;
  Run(minutes(15));
  EXPECT_EQ(actions.size(), before);
}

TEST_F(ProfilerTest, AColdEpochIsNoDrift) {
  Begin(Unprofiled("a", "n1"), {.best = 10, .cost = 0.1});
  Run(minutes(6));
  ASSERT_TRUE(Last().confirmed);
  state.RemovePod("a");
  trainings.clear();
  const size_t before = actions.size();
  Begin(Unprofiled("b", "n1"), {.best = 4, .cost = 0.1, .reads = 1e5, .cold = true});
  for (int i = 0; i < 600; ++i) {
    Run(seconds(2));
    ASSERT_FALSE(memory.pods.at("b").off_since) << i;
  }
  EXPECT_EQ(actions.size(), before);
  // It is as slow with its data in memory: that is a contradiction.
  trainings["b"].cold = false;
  Run(minutes(12));
  const auto published = Published();
  EXPECT_TRUE(std::any_of(published.begin(), published.end(),
                          [](const MeasuredProfile& measured) { return measured.drifted; }));
}

TEST_F(ProfilerTest, AColdEpochDoesNotContradictANewCurve) {
  Begin(Unprofiled("a", "n1"), {.best = 10, .cost = 0.1});
  while (actions.empty() || !Last().confirmed) Run(seconds(2));
  const size_t published = Count(Kind::kPublish);
  Begin(Unprofiled("b", "n1"), {.best = 4, .cost = 0.1, .reads = 1e5, .cold = true});
  Run(minutes(2));
  ASSERT_LT(at.now, memory.measurements.begin()->second.on_trial_until);
  EXPECT_TRUE(memory.pods.at("b").window) << "it was looked at closely";
  EXPECT_TRUE(memory.measurements.begin()->second.complete);
  EXPECT_EQ(Count(Kind::kPublish), published);
}

TEST_F(ProfilerTest, AnotherAgentCountsFromItsBeginning) {
  Begin(Unprofiled("a", "n1"));
  Run(seconds(40));
  trainings["a"].iterations = 0;
  agent_since += minutes(1);
  Run(seconds(20));
  EXPECT_TRUE(actions.empty());
  Run(seconds(20));
  ASSERT_GE(Count(Kind::kPublish), 1U);
  EXPECT_NEAR(Last().points[0].throughput, 6, 0.05);
}

TEST_F(ProfilerTest, ForgetsRemovedPods) {
  Begin(Unprofiled("a", "n1"));
  while (Count(Kind::kProbe) == 0) Run(seconds(2));
  state.RemovePod("a");
  Run(seconds(4));
  EXPECT_TRUE(memory.pods.empty());
  EXPECT_TRUE(memory.measurements.empty());
  EXPECT_TRUE(memory.probed.empty());
  EXPECT_TRUE(memory.due.empty());
  EXPECT_TRUE(memory.on_node.empty());
}

TEST_F(ProfilerTest, MeasuresFewOfManyThatAreAlike) {
  for (int node = 2; node < 5; ++node) {
    HaveNode("n" + std::to_string(node));
    for (int i = 0; i < 4; ++i) {
      const std::string name = "p" + std::to_string(4 * node + i);
      Begin(Unprofiled(name, "n" + std::to_string(node)));
    }
  }
  Run(minutes(1));
  EXPECT_EQ(memory.measurements.size(), 1U);
  EXPECT_EQ(memory.measurements.begin()->second.closely.size(), 4U);
  EXPECT_EQ(Count(Kind::kPublish), 1U);
}

// Tests loaders with as many workers as the CPU with which their containers started.
TEST_F(ProfilerTest, ACurveOfFewWorkersIsReplacedByOneOfMore) {
  HaveNode("n2");
  Begin(Unprofiled("few", "n1"), {.best = 4, .cost = 0.5});  // two of three cores
  Run(minutes(4));
  ASSERT_GE(Count(Kind::kPublish), 1U);
  EXPECT_TRUE(Last().censored);
  EXPECT_NEAR(MakeJobProfile(Last())->Best(), 4, 0.1);
  Begin(With(Unprofiled("more", "n2"),
             [](ManagedContainer& fungible) {
               fungible.requested.cpu = fungible.in_force.cpu = fungible.set_aside.cpu = Cores(6);
             }),
        {.best = 10, .cost = 0.5});
  Run(minutes(20));
  EXPECT_NEAR(MakeJobProfile(Last())->Best(), 10, 0.1);
  for (const MeasuredProfile& measured : Published()) {
    EXPECT_FALSE(measured.drifted) << "who has fewer workers is not off the curve";
    EXPECT_EQ(measured.note, "");
  }
  for (const CurvePoint& point : memory.measurements.begin()->second.points) {
    if (point.bound) continue;
    EXPECT_NEAR(point.throughput, 10, 0.1) << "no average";
  }
}

TEST_F(ProfilerTest, ACurveOfManyWorkersIsNotLoweredByFewer) {
  HaveNode("n2");
  const auto six = [](ManagedContainer& fungible) {
    fungible.requested.cpu = fungible.in_force.cpu = fungible.set_aside.cpu = Cores(6);
  };
  Begin(With(Unprofiled("more", "n2"), six), {.best = 10, .cost = 0.5});
  Run(minutes(1));
  Begin(With(Unprofiled("few", "n1"), six), {.best = 4, .cost = 0.5});
  Run(minutes(20));
  for (const MeasuredProfile& measured : Published()) {
    EXPECT_NEAR(MakeJobProfile(measured)->Best(), 10, 0.1);
    EXPECT_FALSE(measured.drifted);
  }
}

}  // namespace
}  // namespace synergy::testing
