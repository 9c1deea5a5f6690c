#include "engine/tuner/node_shares.h"

#include <chrono>
#include <string>

#include <gmock/gmock.h>

#include "cluster/annotations.h"
#include "support/known_storage.h"
#include "unit/engine/engine_fixture.h"

namespace synergy::testing {
namespace {

const DeviceReading kNotListed{DeviceSafety::kUnsafe, "not listed"};

class NodeSharesTest : public EngineTest {
 protected:
  NodeShares Of(SharePurpose use) {
    snapshot_ = state.Snapshot();
    return SharesOn(NodeOf(*snapshot_, "n1"), use, Rules());
  }
  ShareRules Rules() {
    return {.profiles = profiles,
            .memory = memory,
            .at = at,
            .round = std::chrono::minutes(5),
            .within_counted = within_counted,
            .storage = storage};
  }

  TunerMemory memory;
  bool within_counted = false;
  const StorageCatalog* storage = nullptr;

 private:
  std::shared_ptr<const ClusterSnapshot> snapshot_;
};

TEST_F(NodeSharesTest, SharesComeInTheOrderOfNamesWhateverTheWatchReportedFirst) {
  state.UpsertPod(ManagedPod("b", "n1", 3));
  state.UpsertPod(ManagedPod("a", "n1", 3));
  const NodeShares node_shares = Of(SharePurpose::kReclaim);
  ASSERT_EQ(node_shares.pods.size(), 2u);
  EXPECT_EQ(node_shares.pods[0]->name, "a");
}

TEST_F(NodeSharesTest, APodMayBeCutToItsFloorAndGrowToItsBest) {
  state.UpsertPod(ManagedPod("a", "n1", 6));
  const PodShare share = Of(SharePurpose::kDivide).shares.front();
  EXPECT_EQ(share.current, OneGpu(6));
  EXPECT_EQ(share.least.cpu, Cores(3));
  EXPECT_EQ(share.most.cpu, Cores(9));
  EXPECT_EQ(share.fair.cpu, Cores(3));
}

TEST_F(NodeSharesTest, QueuedPodGrowsToItsFloorOnlyWithinAQuota) {
  Pod pod = ManagedPod("a", "n1", 3);
  pod.labels = {{std::string(annotations::kKueuePodSet), "main"}};
  state.UpsertPod(pod);
  state.UpsertPod(ManagedPod("b", "n1", 3));
  EXPECT_EQ(Of(SharePurpose::kDivide).shares[0].most.cpu, Cores(9));
  within_counted = true;
  const NodeShares node_shares = Of(SharePurpose::kDivide);
  EXPECT_EQ(node_shares.shares[0].most.cpu, Cores(3));
  EXPECT_EQ(node_shares.shares[1].most.cpu, Cores(9)) << "it is in no queue";
  EXPECT_EQ(MostAllowed(pod, Rules()).cpu, Cores(3));
  EXPECT_EQ(MostAllowedForEach(pod, OneGpu(9), 2, Rules()).cpu, Cores(3));
}

TEST_F(NodeSharesTest, MemoryOfAShortNodeIsNotTaken) {
  state.UpsertPod(With(ManagedPod("a", "n1", 6), [this](ManagedContainer& pod) {
    pod.floor.memory = GiB(1);
    pod.memory_reading = MemoryReading{GiB(1), false, at.wall};
  }));
  EXPECT_LT(Of(SharePurpose::kReclaim).shares.front().least.memory, GiB(4));
  Node node = NodeOfFour("n1");
  node.short_of_memory = true;
  state.UpsertNode(node);
  EXPECT_EQ(Of(SharePurpose::kReclaim).shares.front().least.memory, GiB(4));
  EXPECT_EQ(Of(SharePurpose::kReclaim).shares.front().least.cpu, Cores(3));
}

TEST_F(NodeSharesTest, MemoryThatIsLetBeDoesNotGrowEither) {
  state.UpsertPod(With(ManagedPod("a", "n1", 6), [this](ManagedContainer& pod) {
    pod.requested.memory = pod.in_force.memory = pod.set_aside.memory = GiB(2);
    pod.floor.memory = GiB(1);
    pod.memory_reading = MemoryReading{GiB(1), false, at.wall};
    pod.memory_let_be = true;
  }));
  const PodShare share = Of(SharePurpose::kDivide).shares.front();
  EXPECT_EQ(share.least.memory, GiB(2));
  EXPECT_EQ(share.most.memory, GiB(2));
}

TEST_F(NodeSharesTest, APodThatChangesOrWasChangedByHandHasNoShare) {
  state.UpsertPod(ManagedPod("a", "n1", 3));
  state.UpsertPod(
      With(ManagedPod("b", "n1", 3), [](ManagedContainer& pod) { pod.in_force.cpu = Cores(4); }));
  state.UpsertPod(With(ManagedPod("c", "n1", 2), [](ManagedContainer& pod) {
    pod.change = {ChangeKind::kGrown, OneGpu(3), OneGpu(4), "", WallTime{}};
  }));
  memory.changes["a"] = {};
  EXPECT_TRUE(Of(SharePurpose::kReclaim).shares.empty());
}

TEST_F(NodeSharesTest, ChangeOfTheRoundBlocksADivisionButNoReclaim) {
  state.UpsertPod(With(ManagedPod("a", "n1", 6), [this](ManagedContainer& pod) {
    pod.change = {ChangeKind::kGrown, OneGpu(3), OneGpu(6), "", at.wall - std::chrono::minutes(2)};
  }));
  const PodShare divided = Of(SharePurpose::kDivide).shares.front();
  EXPECT_EQ(divided.least, divided.current);
  EXPECT_EQ(divided.most, divided.current);
  EXPECT_EQ(Of(SharePurpose::kReclaim).shares.front().least.cpu, Cores(3));
  EXPECT_EQ(NextChange(NodeOf(*state.Snapshot(), "n1"), Rules()), at.now + std::chrono::minutes(3));
}

TEST_F(NodeSharesTest, MemoryGrowsOnlyWithAKnownProcessMemory) {
  const JobProfile profile =
      *JobProfile::Create(Gpus(1), {{Cores(1), GiB(4), 1}, {Cores(9), GiB(8), 9}});
  profiles.profiles["sensitive"] = std::make_shared<const JobProfile>(profile);
  state.UpsertPod(ManagedPod("a", "n1", 3));
  EXPECT_EQ(Of(SharePurpose::kDivide).shares.front().most.memory, GiB(4));
  profiles.profiles["sensitive"] =
      std::make_shared<const JobProfile>(profile.WithProcessMemory(GiB(1)));
  EXPECT_EQ(Of(SharePurpose::kDivide).shares.front().most.memory, GiB(8));
  state.UpsertPod(With(ManagedPod("a", "n1", 3),
                       [](ManagedContainer& pod) { pod.written.memory_limit = GiB(5); }));
  EXPECT_EQ(Of(SharePurpose::kDivide).shares.front().most.memory, GiB(5));
}

TEST_F(NodeSharesTest, AGuaranteedPodWithWholeCpusKeepsThemWhole) {
  state.UpsertPod(With(ManagedPod("a", "n1", 3), [](ManagedContainer& pod) {
    pod.enforcement = Enforcement::kStrict;
    pod.written = {Cores(4), Cores(4), GiB(4), GiB(4)};
  }));
  const PodShare share = Of(SharePurpose::kDivide).shares.front();
  EXPECT_TRUE(share.whole_cpus);
  EXPECT_EQ(share.Step(MilliCpu(2900)), Cores(2));
}

TEST_F(NodeSharesTest, PodsWithoutGpusThatComeLaterLowerNobodysShare) {
  state.UpsertPod(ManagedPod("a", "n1", 6));
  state.UpsertPod(OnNode(MakePod("later", {Gpus(0), Cores(6), GiB(32)}), "n1"));
  const PodShare share = Of(SharePurpose::kDivide).shares.front();
  EXPECT_EQ(share.fair.cpu, Cores(3));
  EXPECT_EQ(share.least.cpu, Cores(3));
}

TEST_F(NodeSharesTest, ARequestStaysBelowALimitThatTheUserSet) {
  state.UpsertPod(
      With(ManagedPod("a", "n1", 3), [](ManagedContainer& pod) { pod.cpu_limit = Cores(5); }));
  EXPECT_EQ(Of(SharePurpose::kDivide).shares.front().most.cpu, MilliCpu(4999));
}

TEST_F(NodeSharesTest, NoticesAProfileThatIsGoneOrChanged) {
  const auto pod = std::make_shared<const Pod>(ManagedPod("a", "n1", 3));
  EXPECT_FALSE(NoticeFor(*pod, EmptyNode({}), profiles, at.wall));
  profiles.generation = 2;
  EXPECT_EQ(NoticeFor(*pod, EmptyNode({}), profiles, at.wall)->reason, Respected::kProfileChanged);
  profiles.profiles.clear();
  EXPECT_EQ(NoticeFor(*pod, EmptyNode({}), profiles, at.wall)->reason, Respected::kProfileGone);
}

TEST_F(NodeSharesTest, PodWithUnsafeDevicesHasNoShare) {
  state.UpsertPod(
      With(ManagedPod("a", "n1", 6), [](ManagedContainer& pod) { pod.devices.reset(); }));
  state.UpsertPod(
      With(ManagedPod("b", "n1", 6), [](ManagedContainer& pod) { pod.devices = kNotListed; }));
  EXPECT_TRUE(Of(SharePurpose::kReclaim).shares.empty());
  EXPECT_TRUE(Of(SharePurpose::kDivide).shares.empty());
  Node node = NodeOfFour("n1");
  node.labels = {{"synergy.io/devices-safe", "true"}};
  state.UpsertNode(node);
  EXPECT_EQ(Of(SharePurpose::kReclaim).shares.size(), 2u);
}

TEST_F(NodeSharesTest, NoticesUnsafeDevicesOnceTheAgentHadTimeToLook) {
  const auto unsafe = std::make_shared<const Pod>(
      With(ManagedPod("a", "n1", 3), [](ManagedContainer& pod) { pod.devices = kNotListed; }));
  const auto notice = NoticeFor(*unsafe, EmptyNode({}), profiles, at.wall);
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->reason, Respected::kDevices);
  EXPECT_THAT(notice->message, ::testing::HasSubstr("not listed"));
  const auto unheard = [this](Duration since) {
    const auto pod =
        std::make_shared<const Pod>(With(ManagedPod("a", "n1", 3), [&](ManagedContainer& fungible) {
          fungible.devices.reset();
          fungible.change = {ChangeKind::kAllocated, OneGpu(3), OneGpu(3), "", at.wall - since};
        }));
    return NoticeFor(*pod, EmptyNode({}), profiles, at.wall);
  };
  EXPECT_FALSE(unheard(std::chrono::seconds(5)));
  EXPECT_TRUE(unheard(std::chrono::minutes(5)));
}

class NodeStorageTest : public NodeSharesTest {
 protected:
  // With its current 4 GiB, a pod misses half of its data. With `cores` it does as many iterations
  // per second, of 100 bytes each.
  NodeStorageTest() {
    const auto profile = std::make_shared<const JobProfile>(
        JobProfile::Create(Gpus(1), {{Cores(1), GiB(4), 1}, {Cores(9), GiB(4), 9}})
            ->WithProcessMemory(GiB(1)));
    profiles.profiles["sensitive"] = profile;
    known.reads["sensitive"] = {profile,
                                {.process = GiB(1), .data_set = GiB(6), .per_iteration = 100}};
    storage = &known;
  }

  KnownStorage known;
};

TEST_F(NodeStorageTest, ASharesStorageIsWhatTheNeedsOfItsNeighborsLeave) {
  state.UpsertPod(ManagedPod("a", "n1", 4));
  state.UpsertPod(ManagedPod("b", "n1", 2));
  EXPECT_FALSE(Of(SharePurpose::kDivide).shares[0].storage) << "its bandwidth is unknown";
  known.bandwidths["n1"] = 240;
  const NodeShares node_shares = Of(SharePurpose::kDivide);
  ASSERT_TRUE(node_shares.shares[0].storage);
  EXPECT_DOUBLE_EQ(node_shares.shares[0].storage->bandwidth, 240);
  EXPECT_DOUBLE_EQ(node_shares.shares[0].storage->left, 240 - 2 * 50);
  EXPECT_DOUBLE_EQ(node_shares.shares[1].storage->left, 120) << "an equal part";
}

TEST_F(NodeStorageTest, APodThatMayNotBeChangedReadsToo) {
  state.UpsertPod(ManagedPod("a", "n1", 4));
  state.UpsertPod(
      With(ManagedPod("b", "n1", 2), [](ManagedContainer& pod) { pod.devices = kNotListed; }));
  known.bandwidths["n1"] = 240;
  const NodeShares node_shares = Of(SharePurpose::kDivide);
  ASSERT_EQ(node_shares.shares.size(), 1U);
  EXPECT_DOUBLE_EQ(node_shares.shares[0].storage->bandwidth, 240 - 2 * 50);
}

TEST_F(NodeStorageTest, MemoryMayGrowUntilThePodReadsNothing) {
  state.UpsertPod(ManagedPod("a", "n1", 4));
  EXPECT_EQ(Of(SharePurpose::kDivide).shares[0].most.memory, GiB(4));
  known.bandwidths["n1"] = 240;
  EXPECT_EQ(Of(SharePurpose::kDivide).shares[0].most.memory, GiB(7));
}

}  // namespace
}  // namespace synergy::testing
