#include "nodeagent/memory/cache_keeper.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/silent_log.h"
#include "unit/nodeagent/recorded_readings.h"

namespace synergy::nodeagent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct FakeContainer {
  Bytes anonymous;
  Bytes cache;
  bool can_release = true;
  bool stubborn = false;  // its cache cannot be reclaimed
  int drops = 0;
  std::optional<Error> failure;
};

class ContainerGroup final : public MemoryGroup {
 public:
  explicit ContainerGroup(FakeContainer& container) : container_(container) {}

  Result<MemoryUse> Read() override {
    return MemoryUse{container_.anonymous + container_.cache, container_.anonymous};
  }
  Result<MemorySample> Sample() override {
    if (container_.failure) return Fail(*container_.failure);
    MemorySample sample;
    sample.use = *Read();
    sample.cache = container_.cache;
    sample.working_set = sample.use.usage;
    sample.stalled = Duration::zero();
    sample.cache_can_be_released = container_.can_release;
    return sample;
  }
  Result<bool> Drop(Bytes amount) override {
    ++container_.drops;
    if (container_.stubborn) return false;
    container_.cache -= std::min(amount, container_.cache);
    return true;
  }
  Result<Bytes> Limit() override { return kNoMemoryLimit; }
  Result<> Release(Bytes, const std::stop_token&) override {
    ADD_FAILURE() << "what a limit asks for is the shrinker's";
    return {};
  }

 private:
  FakeContainer& container_;
};

class ContainerGroups final : public MemoryGroups {
 public:
  Result<std::unique_ptr<MemoryGroup>> OfPod(const wire::ResizeStatus&) override {
    return Fail(ErrorCode::kNotFound, "nobody asks for it");
  }
  Result<std::unique_ptr<MemoryGroup>> OfContainer(
      const wire::ResizeStatus&, const wire::ResizeStatus::Container& container) override {
    const auto found = containers.find(container.id);
    if (found == containers.end()) return Fail(ErrorCode::kNotFound, "no such group");
    return std::make_unique<ContainerGroup>(found->second);
  }

  std::map<std::string, FakeContainer> containers;  // id -> container
};

class CacheKeeperTest : public ::testing::Test {
 protected:
  wire::ResizeStatus Pod(const std::string& name, Bytes request, Bytes floor) {
    wire::ResizeStatus pod;
    pod.uid = "uid-" + name;
    pod.pod_namespace = "team";
    pod.name = name;
    pod.managed = pod.has_share = true;
    pod.containers.push_back({"train", "containerd://" + name, {}, {}});
    ManagedContainer fungible;
    fungible.container = "train";
    fungible.requested.memory = request;
    fungible.floor.memory = floor;
    fungible.enforcement = Enforcement::kStrict;
    pod.fungible = std::make_shared<const ManagedContainer>(fungible);
    return pod;
  }
  FakeContainer& Has(const std::string& name, Bytes anonymous, Bytes cache) {
    FakeContainer& container = groups.containers["containerd://" + name];
    container.anonymous = anonymous;
    container.cache = cache;
    return container;
  }
  void Steps(int count) {
    for (int i = 0; i < count; ++i) clock.Advance(keeper.Step({}));
  }

  testing::FakeClock clock;
  testing::SilentSink sink;
  Logger log{sink, clock, LogLevel::kDebug, LogFormat::kText};
  metrics::NodeAgentMetrics metrics;
  ContainerGroups groups;
  RecordedReadings readings;
  NodeMemory node{GiB(64), GiB(40), GiB(40)};
  NodePods pods;
  PodActs acts;
  CacheKeeper keeper{pods,     groups,  [this] { return Result<NodeMemory>(node); },
                     readings, acts,    clock,
                     log,      metrics, {}};
};

TEST_F(CacheKeeperTest, KeepsTheCacheToTheShareAndLeavesAnonymousMemory) {
  FakeContainer& container = Has("a", GiB(5), GiB(15));
  pods.Replace({Pod("a", GiB(8), GiB(8))});
  Steps(200);
  EXPECT_EQ(container.anonymous, GiB(5));
  EXPECT_LE(container.anonymous + container.cache, GiB(8) + MiB(128));
  EXPECT_GE(container.anonymous + container.cache, GiB(8));
  EXPECT_THAT(metrics.Render(), HasSubstr("synergy_node_agent_cache_dropped_bytes_total 1"));
  EXPECT_EQ(acts.Of("uid-a").size(), 1U);
}

TEST_F(CacheKeeperTest, TakesNoMoreWhenAShareGrows) {
  FakeContainer& container = Has("a", GiB(5), GiB(15));
  pods.Replace({Pod("a", GiB(8), GiB(8))});
  Steps(3);
  pods.Upsert(Pod("a", GiB(30), GiB(8)));
  const Bytes before = container.cache;
  Steps(20);
  EXPECT_EQ(container.cache, before);
}

TEST_F(CacheKeeperTest, LeavesPodsAloneThatAreNotManaged) {
  FakeContainer& container = Has("a", GiB(5), GiB(15));
  wire::ResizeStatus pod = Pod("a", GiB(8), GiB(1));
  pod.has_share = false;
  pods.Replace({pod});
  Steps(20);
  EXPECT_EQ(container.cache, GiB(15));
  EXPECT_TRUE(acts.Of("uid-a").empty());
  EXPECT_THAT(readings.memory, IsEmpty());
  EXPECT_EQ(keeper.kept_pods(), 0u);
}

TEST_F(CacheKeeperTest, LeavesTheCacheOfAVolumeAloneThatSeveralPodsRead) {
  FakeContainer& container = Has("a", GiB(5), GiB(15));
  wire::ResizeStatus one = Pod("a", GiB(8), GiB(1));
  wire::ResizeStatus other = Pod("b", GiB(8), GiB(1));
  one.storage = other.storage = {"claim team/data"};
  pods.Replace({one, other});
  Steps(20);
  EXPECT_EQ(container.cache, GiB(15));
  // Memory that the container does not give back is in use.
  ASSERT_EQ(readings.memory.size(), 1u);
  EXPECT_EQ(readings.memory[0].second.in_use, GiB(20));
  pods.Remove(other);
  Steps(20);
  EXPECT_LT(container.cache, GiB(15));
}

TEST_F(CacheKeeperTest, DoesNotInsistOnCacheThatDoesNotGo) {
  FakeContainer& container = Has("a", GiB(5), GiB(15));
  container.stubborn = true;
  pods.Replace({Pod("a", GiB(8), GiB(8))});
  Steps(120);
  EXPECT_LT(container.drops, 20);
  EXPECT_THAT(metrics.Render(), HasSubstr("brakes_total{reason=\"in_vain\"}"));
}

TEST_F(CacheKeeperTest, ReportsTheMemoryThatAPodCannotRelease) {
  Has("a", GiB(5), GiB(15));
  pods.Replace({Pod("a", GiB(30), GiB(1))});
  Steps(3);
  ASSERT_EQ(readings.memory.size(), 1u);
  EXPECT_EQ(readings.memory[0].first, "a");
  EXPECT_EQ(readings.memory[0].second.in_use, GiB(5));
}

TEST_F(CacheKeeperTest, ReportsTheWorkingSetIfNoCacheCanBeReleased) {
  Has("a", GiB(5), GiB(15)).can_release = false;
  pods.Replace({Pod("a", GiB(30), GiB(1))});
  Steps(3);
  ASSERT_EQ(readings.memory.size(), 1u);
  EXPECT_EQ(readings.memory[0].second.in_use, GiB(20));
}

TEST_F(CacheKeeperTest, ReportsANodeShortOfMemory) {
  Has("a", GiB(5), GiB(15));
  pods.Replace({Pod("a", GiB(30), GiB(1))});
  Steps(1);
  node.available = MiB(200);
  Steps(1);
  ASSERT_EQ(readings.memory.size(), 2u);
  EXPECT_TRUE(readings.memory[1].second.node_short);
  EXPECT_TRUE(keeper.node_short());
}

// A pod's new container has its own control group.
TEST_F(CacheKeeperTest, FollowsAContainerThatIsRestarted) {
  Has("a", GiB(5), GiB(15)).failure = Error{ErrorCode::kNotFound, "gone"};
  pods.Replace({Pod("a", GiB(8), GiB(8))});
  Steps(2);
  FakeContainer& next = Has("a-again", GiB(5), GiB(15));
  wire::ResizeStatus pod = Pod("a", GiB(8), GiB(8));
  pod.containers[0].id = "containerd://a-again";
  pods.Upsert(pod);
  Steps(20);
  EXPECT_LT(next.cache, GiB(15));
  EXPECT_THAT(metrics.Render(), ::testing::Not(HasSubstr("sample_failed")));
}

// A killed agent leaves no state, so the next one starts like the first.
TEST_F(CacheKeeperTest, AnotherAgentGoesOnWhereOneWasKilled) {
  FakeContainer& container = Has("a", GiB(5), GiB(15));
  pods.Replace({Pod("a", GiB(8), GiB(8))});
  Steps(4);
  CacheKeeper other(pods, groups, [this] { return Result<NodeMemory>(node); }, readings, acts,
                    clock, log, metrics, {});
  for (int i = 0; i < 200; ++i) clock.Advance(other.Step({}));
  EXPECT_LE(container.anonymous + container.cache, GiB(8) + MiB(128));
  EXPECT_EQ(container.anonymous, GiB(5));
}

}  // namespace
}  // namespace synergy::nodeagent
