#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.h"
#include "engine/profiler/profiler.h"
#include "profiler_fixture.h"

namespace synergy::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using Kind = ProfilerActionKind;

// Tests two pods on a node of 6 cores, each limited to its fair share: one could use 5 cores, the
// other hardly uses any.
class BurstTest : public ProfilerTest {
 protected:
  BurstTest() {
    Node node = NodeOfFour("n2");
    node.allocatable.main.cpu = Cores(6);
    state.UpsertNode(std::move(node));
  }

  static Pod Limited(const std::string& name, const std::string& workload) {
    return With(Unprofiled(name, "n2", workload), [](ManagedContainer& fungible) {
      fungible.enforcement = Enforcement::kStrict;
      fungible.cpu_limit = fungible.requested.cpu;
    });
  }
  void BeginNeighbour() { Begin(Limited("b", "w-b"), {.best = 20, .cost = 0.01}); }

  std::vector<ProfilerAction> Bursts() const {
    std::vector<ProfilerAction> bursts;
    for (const ProfilerAction& action : Of(Kind::kProbe)) {
      if (action.probe.burst) bursts.push_back(action);
    }
    return bursts;
  }
  // Returns the workload's published throughput with this amount; 0 if there is none.
  double PublishedAt(const std::string& workload, MilliCpu cpu) const {
    double throughput = 0;
    for (const MeasuredProfile& measured : Published()) {
      if (measured.workload != workload) continue;
      for (const MeasuredPoint& point : measured.points) {
        if (point.cpu == cpu && point.certainty == PointCertainty::kExact)
          throughput = point.throughput;
      }
    }
    return throughput;
  }
  bool IsOn(const std::string& uid) const {
    const auto pod = state.FindPod(uid);
    return pod && pod->fungible->probe && pod->fungible->probe->burst;
  }
};

TEST_F(BurstTest, APodUsesWhatItsNeighbourDoesNot) {
  Begin(Limited("a", "w-a"));
  BeginNeighbour();
  Run(seconds(26));
  const std::vector<ProfilerAction> bursts = Bursts();
  ASSERT_EQ(bursts.size(), 1U);
  EXPECT_EQ(bursts[0].pod->name, "a");
  // The neighbour uses 0.2 of 3 cores.
  EXPECT_GT(bursts[0].probe.cpu, MilliCpu(5700));
  EXPECT_LE(bursts[0].probe.cpu, MilliCpu(5800));
  EXPECT_LE(bursts[0].probe.until, at.wall + minutes(2));
}

TEST_F(BurstTest, ItsSpeedIsAPointAboveTheFairShare) {
  Begin(Limited("a", "w-a"), {.best = 10, .cost = 0.47});
  BeginNeighbour();
  Run(seconds(76));
  const MilliCpu burst = Bursts().at(0).probe.cpu;
  EXPECT_NEAR(PublishedAt("w-a", burst), 10, 0.1);
}

TEST_F(BurstTest, CountersOfAPodThatLogsNothingBeginOne) {
  Begin(Limited("a", "w-a"), {.logs = false});
  BeginNeighbour();
  Run(seconds(26));
  EXPECT_EQ(Bursts().size(), 1U);
}

TEST_F(BurstTest, NoPodBurstsWithoutNeedOrRight) {
  const std::vector<std::function<void(Pod&, ManagedContainer&, Training&)>> cases = {
      [](Pod&, ManagedContainer&, Training& training) { training.cost = 0.2; },
      [](Pod&, ManagedContainer& fungible, Training&) { fungible.cpu_limit.reset(); },
      [](Pod&, ManagedContainer& fungible, Training&) {
        fungible.written.cpu_limit = fungible.cpu_limit;
      },
      [](Pod& pod, ManagedContainer&, Training&) { pod.deleting = true; },
      [](Pod&, ManagedContainer& fungible, Training&) { fungible.profile = "of-its-author"; },
      [](Pod&, ManagedContainer& fungible, Training&) {
        fungible.resize = ResizeState::kInProgress;
      },
  };
  BeginNeighbour();
  for (size_t i = 0; i < cases.size(); ++i) {
    Pod pod = Limited("a", "w-a");
    auto fungible = std::make_shared<ManagedContainer>(*pod.fungible);
    Training training;
    cases[i](pod, *fungible, training);
    pod.fungible = std::move(fungible);
    Begin(pod, training);
    Run(seconds(60));
    EXPECT_EQ(Bursts().size(), 0U) << i;
    state.RemovePod(pod.uid);
    trainings.erase(pod.uid);
  }
}

TEST_F(BurstTest, SettingsForbidThem) {
  BeginNeighbour();
  Begin(Limited("a", "w-a"));
  Set([](ProfilerSettings& s) { s.bursts = false; });
  Run(seconds(60));
  EXPECT_EQ(Bursts().size(), 0U);
}

TEST_F(BurstTest, NoneWhereTheNeighboursUseIsUnknown) {
  Begin(Limited("a", "w-a"));
  state.UpsertPod(Limited("b", "w-b"));  // a pod without reports
  Run(seconds(60));
  EXPECT_EQ(Bursts().size(), 0U);
}

TEST_F(BurstTest, ItEndsWhenTheNeighbourUsesItsCpu) {
  Begin(Limited("a", "w-a"));
  BeginNeighbour();
  Run(seconds(26));
  ASSERT_TRUE(IsOn("a"));
  trainings["b"].best = 100;
  trainings["b"].cost = 0.5;
  Run(seconds(6));
  EXPECT_FALSE(IsOn("a"));
}

TEST_F(BurstTest, AProbeOfTheNeighbourDoesNotEndIt) {
  Begin(Limited("a", "w-a"), {.best = 10, .cost = 0.5});
  BeginNeighbour();
  const auto is_probed = [&] {
    const auto pod = state.FindPod("b");
    return pod->fungible->probe.has_value();
  };
  for (int i = 0; i < 50 && !is_probed(); ++i) Run(seconds(2));
  ASSERT_TRUE(is_probed());
  EXPECT_TRUE(IsOn("a"));
  Run(seconds(10));
  EXPECT_TRUE(IsOn("a"));
}

TEST_F(BurstTest, ItLastsUntilAGrowthIsInForce) {
  Begin(Limited("a", "w-a"));
  BeginNeighbour();
  Run(seconds(26));
  ASSERT_TRUE(IsOn("a"));
  const auto grow = [](bool in_force) {
    return [in_force](ManagedContainer& fungible) {
      fungible.requested.cpu = MilliCpu(5800);
      fungible.cpu_limit = fungible.requested.cpu;
      if (in_force) fungible.in_force = fungible.set_aside = fungible.requested;
    };
  };
  Put("b", [](ManagedContainer& fungible) {
    fungible.requested.cpu = MilliCpu(200);
    fungible.cpu_limit = fungible.requested.cpu;
    fungible.in_force = fungible.set_aside = fungible.requested;
  });
  Put("a", grow(false));
  Run(seconds(4));
  EXPECT_TRUE(IsOn("a"));
  Put("a", grow(true));
  Run(seconds(4));
  EXPECT_FALSE(IsOn("a"));
}

TEST_F(BurstTest, ItIsProlongedUntilItsLimitGrows) {
  Begin(Limited("a", "w-a"));
  BeginNeighbour();
  Set([](ProfilerSettings& s) { s.most_probes = 0; });
  Run(seconds(26));
  for (int i = 0; i < 80; ++i) {
    ASSERT_TRUE(IsOn("a")) << i;
    Run(seconds(2));
  }
  EXPECT_EQ(Bursts().size(), 2U);
  EXPECT_EQ(Bursts()[0].probe.cpu, Bursts()[1].probe.cpu);
  // The block is not permanent.
  Run(minutes(5));
  EXPECT_FALSE(IsOn("a"));
  EXPECT_EQ(Bursts().size(), 3U);
}

TEST_F(BurstTest, ASmallerGrowthEndsItAtOnce) {
  Begin(Limited("a", "w-a"));
  BeginNeighbour();
  Run(seconds(26));
  ASSERT_TRUE(IsOn("a"));
  Put("a", [](ManagedContainer& fungible) {
    fungible.requested.cpu = MilliCpu(3500);
    fungible.cpu_limit = fungible.requested.cpu;
  });
  Run(seconds(2));
  EXPECT_FALSE(IsOn("a"));
}

TEST_F(BurstTest, AnAgentThatDoesNotApplyItIsAskedOnce) {
  Begin(Limited("a", "w-a"), {.kept = false});
  BeginNeighbour();
  Run(minutes(4));
  EXPECT_EQ(Bursts().size(), 1U);
  EXPECT_FALSE(IsOn("a"));
}

TEST_F(BurstTest, AWorkloadThatIsKnownHasNone) {
  Begin(Limited("a", "w-a"));
  BeginNeighbour();
  Run(minutes(10));
  const size_t before = Bursts().size();
  EXPECT_LE(before, 3U);
  ASSERT_TRUE(Last().confirmed);
  Run(minutes(10));
  EXPECT_EQ(Bursts().size(), before);
}

// Tests properties with random pods on a node: a node's pods may never use more than it has, as
// long as each of the others uses as much as before; no burst is without need; and no pod has two
// quotas.
TEST_F(BurstTest, ANodesPodsUseNoMoreThanItHas) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    ProfilerMemory fresh;
    std::swap(memory, fresh);
    actions.clear();
    std::map<std::string, double> uses;
    for (int i = 0; i < 4; ++i) {
      const std::string name = std::string(1, static_cast<char>('a' + i));
      const double cost = 0.02 + 0.3 * random.Uniform();
      const Pod pod = With(Limited(name, "w-" + name), [](ManagedContainer& fungible) {
        fungible.requested.cpu = MilliCpu(1500);
        fungible.cpu_limit = fungible.requested.cpu;
        fungible.floor.cpu = fungible.fair_share.cpu = MilliCpu(1500);
        fungible.in_force = fungible.set_aside = fungible.requested;
      });
      Begin(pod, {.best = 10, .cost = cost});
      uses[pod.uid] = std::min(1.5, 10 * cost);
    }
    for (int step = 0; step < 40; ++step) {
      Run(seconds(2));
      double total = 0;
      for (const auto& [uid, use] : uses) {
        const auto& probe = state.FindPod(uid)->fungible->probe;
        const bool bursts = probe && probe->burst;
        if (bursts) {
          EXPECT_GE(use, 0.9 * 1.5) << "seed " << seed << ", " << uid;
        }
        total += bursts ? static_cast<double>(probe->cpu.count()) / 1000 : use;
      }
      EXPECT_LE(total, 6.001) << "seed " << seed << ", step " << step;
    }
    for (const auto& [uid, use] : uses) state.RemovePod(uid);
    trainings.clear();
  }
}

}  // namespace
}  // namespace synergy::testing
