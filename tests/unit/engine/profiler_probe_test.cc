#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/node_selection.h"
#include "engine/profiler/profiler.h"
#include "profiler_fixture.h"

namespace synergy::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Kind = ProfilerActionKind;

TEST_F(ProfilerTest, ProbesOneOnANodeAtATime) {
  Begin(Unprofiled("a", "n1", "w-1"));
  Begin(Unprofiled("b", "n1", "w-2"));
  size_t running = 0;
  size_t probes = 0;
  for (int i = 0; i < 150; ++i) {
    const size_t before = actions.size();
    Run(seconds(2));
    for (size_t k = before; k < actions.size(); ++k) {
      if (actions[k].kind == Kind::kProbe) {
        ++running;
        ++probes;
      }
      if (actions[k].kind == Kind::kEndProbe) --running;
    }
    EXPECT_LE(running, 1U);
  }
  EXPECT_EQ(probes, 2U);
}

TEST_F(ProfilerTest, ProbesNoNodeWhereAnotherOneDoes) {
  // A previous leader has written it.
  Pod other = With(ManagedPod("other", "n1", 3), [&](ManagedContainer& fungible) {
    fungible.probe = CpuProbe{Cores(1), at.wall + minutes(2)};
  });
  state.UpsertPod(other);
  Begin(Unprofiled("a", "n1"));
  Run(seconds(100));
  EXPECT_EQ(Count(Kind::kProbe), 0U);
  Run(minutes(1));
  EXPECT_EQ(Count(Kind::kProbe), 1U);
}

// Tests pods of one workload, each on its own node.
class OneWorkload : public ProfilerTest {
 public:
  OneWorkload(int pods, const Training& training) {
    for (int i = 0; i < pods; ++i) {
      const std::string node = "n" + std::to_string(i + 1);
      HaveNode(node);
      Begin(Unprofiled("p" + std::to_string(i), node), training);
    }
  }
  void TestBody() override {}
  using ProfilerTest::Count;
  using ProfilerTest::Last;
  using ProfilerTest::memory;
  using ProfilerTest::Run;
  using ProfilerTest::trainings;

  // Runs until nothing is left to probe, and checks what every look has begun.
  Duration RunUntilComplete() {
    const Instant begun = at.now;
    std::map<std::string, MilliCpu> running;  // node -> CPU
    while (at.now < begun + minutes(20)) {
      const size_t before = actions.size();
      Run(seconds(2));
      for (size_t i = before; i < actions.size(); ++i) {
        const ProfilerAction& action = actions[i];
        if (action.kind == Kind::kEndProbe) running.erase(action.pod->node);
        if (action.kind != Kind::kProbe) continue;
        EXPECT_FALSE(running.contains(action.pod->node));
        for (const auto& [node, cpu] : running) EXPECT_NE(cpu, action.probe.cpu);
        running[action.pod->node] = action.probe.cpu;
        most_at_once = std::max(most_at_once, running.size());
      }
      const Measurement& measurement = memory.measurements.begin()->second;
      EXPECT_LE(measurement.Lost(), settings.most_loss * 3600 * trainings.begin()->second.best);
      if (measurement.complete) break;
    }
    return at.now - begun;
  }

  size_t most_at_once = 0;
};

TEST(ProfilerWorkloadTest, PodsOfAWorkloadMeasureDifferentPointsAtTheSameTime) {
  const Training training{.best = 10, .cost = 0.21};
  OneWorkload one(1, training);
  const Duration alone = one.RunUntilComplete();
  EXPECT_EQ(one.most_at_once, 1U);
  EXPECT_EQ(one.Count(Kind::kProbe), 2U);
  OneWorkload two(2, training);
  EXPECT_LE(two.RunUntilComplete(), alone - seconds(15));
  EXPECT_EQ(two.most_at_once, 2U);
  EXPECT_EQ(two.Count(Kind::kProbe), 2U);
  ASSERT_TRUE(two.Last().confirmed);
  EXPECT_EQ(two.Last().points.size(), one.Last().points.size());
}

TEST(ProfilerWorkloadTest, MorePodsTakeNoLongerAndLoseNoMore) {
  int sooner = 0;
  for (const double cost : {0.002, 0.05, 0.12, 0.21, 0.25, 0.57}) {
    for (const bool wiped : {false, true}) {
      SCOPED_TRACE(::testing::Message() << cost << " wiped " << wiped);
      const Training training{.best = 10, .cost = cost, .wiped = wiped};
      const Duration alone = OneWorkload(1, training).RunUntilComplete();
      for (const int pods : {2, 4}) {
        const Duration together = OneWorkload(pods, training).RunUntilComplete();
        EXPECT_LE(together, alone + seconds(30));
        sooner += together < alone ? 1 : 0;
      }
    }
  }
  EXPECT_GE(sooner, 2);
}

TEST(ProfilerWorkloadTest, AProbeThatCostsTooMuchEndsThoseBesideIt) {
  OneWorkload two(2, {.best = 10, .cost = 0.21});
  while (two.Count(Kind::kProbe) < 2) two.Run(seconds(2));
  for (auto& [uid, training] : two.trainings) training.best = 0.001;
  two.Run(minutes(3));
  EXPECT_EQ(two.Count(Kind::kEndProbe), 2U);
  EXPECT_TRUE(two.memory.probed.empty());
}

TEST_F(ProfilerTest, ProbesSoManyInTheClusterAtOnce) {
  Set([](ProfilerSettings& s) { s.probes_at_once = 1; });
  HaveNode("n2");
  Begin(Unprofiled("a", "n1", "w-1"));
  Begin(Unprofiled("b", "n2", "w-2"));
  Run(seconds(60));
  EXPECT_EQ(Count(Kind::kProbe), 1U);
  Run(minutes(2));
  EXPECT_EQ(Count(Kind::kProbe), 2U);
}

TEST_F(ProfilerTest, BeginsNoneWhereAPodWaits) {
  Begin(Unprofiled("a", "n1"));
  Pod waiting = ManagedPod("waiting", "", 12);
  state.UpsertPod(waiting);
  Run(minutes(3));
  EXPECT_EQ(Count(Kind::kPublish), 1U);
  EXPECT_EQ(Count(Kind::kProbe), 0U);
  // No probe is made for a pod that may not use this node, or for one for which the node has no
  // GPUs.
  auto elsewhere = std::make_shared<Waiting>(*waiting.waiting);
  elsewhere->selection =
      std::make_shared<const NodeSelection>(NodeSelection{.node_selector = {{"pool", "b"}}});
  waiting.waiting = elsewhere;
  state.UpsertPod(waiting);
  Pod large = ManagedPod("large", "", 3);
  large.requests.main.gpus = Gpus(4);
  state.UpsertPod(large);
  Run(seconds(6));
  EXPECT_EQ(Count(Kind::kProbe), 1U);
}

TEST_F(ProfilerTest, EndsOneAsSoonAsAPodWaits) {
  Begin(Unprofiled("a", "n1"));
  while (Count(Kind::kProbe) == 0) Run(seconds(2));
  state.UpsertPod(ManagedPod("waiting", "", 12));
  Run(seconds(2));
  EXPECT_EQ(Count(Kind::kEndProbe), 1U);
  EXPECT_FALSE(Last().confirmed);
  // The pod comes again.
  state.RemovePod("waiting");
  Run(minutes(2));
  EXPECT_EQ(Count(Kind::kProbe), 2U);
  EXPECT_TRUE(Last().confirmed);
}

TEST_F(ProfilerTest, ProbesNoPodThatIsBeingChanged) {
  const ChangeRecord growth{.kind = ChangeKind::kGrown, .from = OneGpu(3), .to = OneGpu(5)};
  const std::vector<std::function<void(ManagedContainer&)>> changes = {
      [](ManagedContainer& f) { f.in_force = OneGpu(4); },
      [](ManagedContainer& f) { f.resize = ResizeState::kDeferred; },
      [&](ManagedContainer& f) { f.change = growth; },
      [](ManagedContainer& f) {
        f.change = ChangeRecord{.kind = ChangeKind::kGrown, .from = OneGpu(1), .to = OneGpu(2)};
      }};
  for (const auto& change : changes) {
    memory = {};
    catalog.profiles.clear();
    actions.clear();
    Begin(With(Unprofiled("a", "n1"), change));
    Run(minutes(2));
    EXPECT_EQ(Count(Kind::kPublish), 1U);
    EXPECT_EQ(Count(Kind::kProbe), 0U);
  }
  state.UpsertPod(Unprofiled("a", "n1"));
  Run(minutes(1));
  EXPECT_EQ(Count(Kind::kProbe), 1U);
}

TEST_F(ProfilerTest, EndsOneWhenThePodIsChanged) {
  Begin(Unprofiled("a", "n1"));
  while (Count(Kind::kProbe) == 0) Run(seconds(2));
  Put("a", [](ManagedContainer& f) { f.resize = ResizeState::kInProgress; });
  Run(seconds(2));
  EXPECT_EQ(Count(Kind::kEndProbe), 1U);
  EXPECT_EQ(memory.measurements.begin()->second.informative, 0);
}

TEST_F(ProfilerTest, TakesThePodOnTheQuietestNode) {
  HaveNode("n2");
  Begin(Unprofiled("a", "n1"));
  Begin(Unprofiled("b", "n2"));
  state.UpsertPod(OnNode(MakePod("busy", {Gpus(0), Cores(5), GiB(1)}), "n1"));
  Run(seconds(60));
  ASSERT_EQ(Count(Kind::kProbe), 1U);
  EXPECT_EQ(Of(Kind::kProbe)[0].pod->name, "b");
}

TEST_F(ProfilerTest, LosesNoMoreThanIsAllowed) {
  Set([](ProfilerSettings& s) { s.most_loss = 0.002; });
  Begin(Unprofiled("a", "n1"));
  Run(minutes(10));
  // Half of its speed for half a minute would be more than 7 s of an hour.
  EXPECT_EQ(Count(Kind::kProbe), 0U);
  EXPECT_FALSE(Last().confirmed);
  // A probe that costs nothing is made all the same.
  Begin(Unprofiled("b", "n1", "w-2"), {.best = 10, .cost = 0.1});
  Run(minutes(3));
  EXPECT_EQ(Count(Kind::kProbe), 1U);
}

TEST_F(ProfilerTest, EndsOneThatCostsMoreThanWasExpected) {
  Set([](ProfilerSettings& s) { s.most_loss = 0.007; });
  // The speed does not settle: iterations stop altogether.
  Begin(Unprofiled("a", "n1"), {.best = 10, .cost = 0.5, .spare = -2.95});
  Run(minutes(10));
  EXPECT_EQ(Count(Kind::kProbe), 1U);
  EXPECT_LE(memory.measurements.begin()->second.Lost(), 0.007 * 3600 * 6);
}

TEST_F(ProfilerTest, OneEndsByItselfBeforeItCostsMoreThanIsAllowed) {
  Begin(Unprofiled("a", "n1"));
  while (Count(Kind::kProbe) == 0) Run(seconds(2));
  EXPECT_EQ(Of(Kind::kProbe)[0].probe.until - at.wall, seconds(110));
  // At half of its speed it loses a second every two seconds, and may lose 36 in an hour.
  Set([](ProfilerSettings& s) { s.most_loss = 0.01; });
  Begin(Unprofiled("b", "n1", "w-2"));
  while (Count(Kind::kProbe) == 1) Run(seconds(2));
  const Duration longest = Of(Kind::kProbe)[1].probe.until - at.wall;
  EXPECT_LE(longest, seconds(73));
  EXPECT_GE(longest, seconds(65));
}

TEST_F(ProfilerTest, RecountsTheCostOfProbesIfTheJobCouldBeFaster) {
  Begin(Unprofiled("a", "n1"), {.best = 10, .cost = 1});
  while (Count(Kind::kEndProbe) == 0) Run(seconds(2));
  Measurement& measurement = memory.measurements.begin()->second;
  const double lost = measurement.Lost();
  EXPECT_GT(lost, 0);
  // From now on iterations take half the CPU time; perhaps they already did under the probe.
  trainings["a"].cost = 0.5;
  Run(minutes(1));
  EXPECT_NEAR(measurement.least_cost, 0.5, 0.05);
  EXPECT_GT(measurement.Lost(), 2.5 * lost);
}

TEST_F(ProfilerTest, ADriftInTheFirstHourBringsNoMoreToLose) {
  Begin(Unprofiled("a", "n1"));
  Run(minutes(10));
  ASSERT_TRUE(Last().confirmed);
  const double lost = Last().lost_iterations;
  Set([](ProfilerSettings& s) { s.most_loss = 0.01; });
  ASSERT_GT(lost, 0.003 * 3600 * 6);
  trainings["a"].cost = 0.7;
  Run(minutes(30));
  EXPECT_FALSE(Last().drifted) << "it is measured again";
  EXPECT_EQ(Count(Kind::kProbe), 1U) << "but not probed";
  EXPECT_EQ(Last().note, "another probe would cost too much");
  // It may be probed again in the next hour.
  Run(minutes(30));
  trainings["a"].cost = 1;
  Run(minutes(30));
  EXPECT_EQ(Count(Kind::kProbe), 2U);
  EXPECT_TRUE(Last().confirmed);
  EXPECT_EQ(Last().note, "");
  EXPECT_GT(Last().lost_iterations, 1.3 * lost);
}

TEST_F(ProfilerTest, MakesNoMoreProbesThanAllowed) {
  Set([](ProfilerSettings& s) { s.most_probes = 1; });
  // With half of the CPU it is faster than expected, so one probe does not suffice.
  Begin(Unprofiled("a", "n1"), {.best = 10, .cost = 0.5, .spare = 1.5});
  Run(minutes(10));
  EXPECT_EQ(Count(Kind::kProbe), 1U);
  Set([](ProfilerSettings& s) {
    s.most_probes = 8;
    s.most_loss = 0.1;
  });
  memory = {};
  catalog.profiles.clear();
  Run(minutes(10));
  EXPECT_GT(Count(Kind::kProbe), 2U);
}

TEST_F(ProfilerTest, ProbeGivesNoResultIfItsQuotaWasOverwritten) {
  Begin(Unprofiled("a", "n1"), {.wiped = true});
  Run(minutes(10));
  // It is tried three times, and then never again.
  EXPECT_EQ(Count(Kind::kProbe), 3U);
  EXPECT_EQ(Count(Kind::kEndProbe), 3U);
  EXPECT_FALSE(Last().confirmed);
  EXPECT_EQ(Last().note, "probes have had no result");
}

TEST_F(ProfilerTest, GivesUpOnAnAgentThatDoesNothing) {
  Begin(Unprofiled("a", "n1"), {.kept = false});
  while (Count(Kind::kProbe) == 0) Run(seconds(2));
  Run(seconds(40));
  EXPECT_EQ(Count(Kind::kEndProbe), 0U);
  Run(seconds(10));
  EXPECT_EQ(Count(Kind::kEndProbe), 1U);
}

TEST_F(ProfilerTest, RefusedActionsAreRetried) {
  takes_probes = takes_profiles = false;
  Begin(Unprofiled("a", "n1"));
  Run(seconds(100));
  EXPECT_GE(Count(Kind::kProbe), 2U);
  EXPECT_LE(Count(Kind::kProbe), 3U);
  EXPECT_GE(Count(Kind::kPublish), 3U);
  EXPECT_EQ(Last().revision, 1);
  EXPECT_EQ(Last().probes, 0);
  takes_probes = takes_profiles = true;
  Run(minutes(2));
  EXPECT_TRUE(Last().confirmed);
}

}  // namespace
}  // namespace synergy::testing
