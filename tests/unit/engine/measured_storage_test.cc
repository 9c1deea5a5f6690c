#include "engine/storage/measured_storage.h"

#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "cluster/gang.h"
#include "engine/storage/published_storage.h"
#include "engine/tuner/node_shares.h"
#include "unit/engine/engine_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr double kMega = 1e6;

KnownProgress Reading(const std::string& uid, const std::string& node, const std::string& backend,
                      double read, std::optional<double> bandwidth) {
  KnownProgress known;
  known.node = node;
  known.pod.uid = uid;
  known.pod.storage =
      StorageUse{.backend = backend, .read = read, .waited = {}, .all = {}, .bandwidth = bandwidth};
  return known;
}

class StorageFactsTest : public ::testing::Test {
 protected:
  void Report(const std::vector<KnownProgress>& reports) {
    facts = WithReports(facts, reports, [this](const std::string& uid, const std::string& node) {
      return !gone.contains(uid) && (!elsewhere.contains(uid) || node != "n1");
    });
  }
  double BandwidthOf(const std::string& node) const {
    const auto disk = facts.disks.find(node);
    return disk == facts.disks.end() ? 0 : disk->second.bandwidth / kMega;
  }

  StorageFacts facts;
  std::set<std::string> gone;
  std::set<std::string> elsewhere;  // pods that are not on n1
};

TEST_F(StorageFactsTest, ANodesDiskIsTheOneFromWhichMostIsReadOfThoseWithAKnownBandwidth) {
  Report({Reading("a", "n1", "vda", 5 * kMega, 20 * kMega),
          Reading("b", "n1", "vda", 5 * kMega, 20 * kMega),
          Reading("c", "n1", "vdb", 8 * kMega, 30 * kMega),
          Reading("d", "n1", "vdc", 90 * kMega, std::nullopt),
          Reading("e", "n1", std::string(kNetworkStorage), 90 * kMega, 50 * kMega),
          Reading("f", "n2", "vdc", 90 * kMega, std::nullopt)});
  EXPECT_THAT(facts.readers, UnorderedElementsAre(Pair("a", "n1"), Pair("b", "n1")));
  EXPECT_THAT(facts.disks, UnorderedElementsAre(Pair("n1", StorageFacts::Disk{"vda", 20 * kMega})));
}

TEST_F(StorageFactsTest, APodThatReadsNoMoreCountsUntilItIsGone) {
  Report({Reading("a", "n1", "vda", 5 * kMega, 20 * kMega)});
  KnownProgress silent;
  silent.node = "n1";
  silent.pod.uid = "a";
  Report({silent});
  Report({});
  EXPECT_THAT(facts.readers, UnorderedElementsAre(Pair("a", "n1")));
  EXPECT_EQ(BandwidthOf("n1"), 20);
  gone = {"a"};
  Report({silent});
  EXPECT_THAT(facts.readers, IsEmpty());
  EXPECT_THAT(facts.disks, IsEmpty());
}

TEST_F(StorageFactsTest, NoiseChangesNothing) {
  Report({Reading("a", "n1", "vda", 5 * kMega, 20 * kMega)});
  const StorageFacts before = facts;
  for (const double bandwidth : {18.5, 21.9, 19.0}) {
    Report({Reading("a", "n1", "vda", 3 * kMega, bandwidth * kMega)});
    EXPECT_EQ(facts, before);
  }
  Report({Reading("a", "n1", "vda", 3 * kMega, std::nullopt)});
  EXPECT_EQ(facts, before) << "the agent has started again";
  Report({Reading("a", "n1", "vda", 3 * kMega, 23 * kMega)});
  EXPECT_EQ(BandwidthOf("n1"), 23);
}

TEST_F(StorageFactsTest, ADiskStaysTheNodesWhileAnyPodReadsFromIt) {
  Report({Reading("a", "n1", "vda", 5 * kMega, 20 * kMega)});
  Report({Reading("a", "n1", "vda", 1 * kMega, 20 * kMega),
          Reading("b", "n1", "vdb", 9 * kMega, 90 * kMega)});
  EXPECT_EQ(BandwidthOf("n1"), 20);
  // None reads from it any more.
  Report({Reading("b", "n1", "vdb", 9 * kMega, 90 * kMega)});
  EXPECT_EQ(BandwidthOf("n1"), 90);
  EXPECT_THAT(facts.readers, UnorderedElementsAre(Pair("b", "n1")));
  Report({Reading("b", "n1", "vdc", 1 * kMega, std::nullopt)});
  EXPECT_THAT(facts.disks, IsEmpty());
}

TEST_F(StorageFactsTest, ReportsOfPodsThatAreGoneOrOnAnotherNodeDoNotCount) {
  gone = {"dead"};
  elsewhere = {"far"};
  Report({Reading("dead", "n1", "vda", 90 * kMega, 90 * kMega),
          Reading("far", "n1", "vda", 90 * kMega, 90 * kMega),
          Reading("a", "n1", "vdb", 5 * kMega, 20 * kMega)});
  EXPECT_THAT(facts.readers, UnorderedElementsAre(Pair("a", "n1")));
  EXPECT_EQ(BandwidthOf("n1"), 20);
}

// Tests trainings that read 100 MB per iteration from a data set of 10 GiB. With three cores their
// CPU allows one iteration per second. They were measured when a neighbour left them 50 MB/s.
class MeasuredStorageTest : public EngineTest {
 protected:
  MeasuredStorageTest() {
    TrainingProfile training;
    training.process_memory = GiB(1);
    training.cached =
        CachedMeasurements{.model = {.data_set = GiB(10),
                                     .storage_bandwidth = Bytes(50'000'000),
                                     .bytes_per_sample = Bytes(100'000'000)},
                           .points = {{Cores(1), 1.0 / 3}, {Cores(3), 1}, {Cores(9), 1}},
                           .memories = {}};
    HeldProfiles::ByName by_name;
    TunedProfile& profile = by_name[{"team", "reader"}];
    profile.profile = std::make_shared<const JobProfile>(*MakeJobProfile(training));
    profile.generation = 1;
    profile.cached = std::make_shared<const TrainingProfile>(training);
    held.Hold(std::move(by_name), 1);
    for (const char* name : {"a", "b"}) AddReader(name);
  }

  void AddReader(const std::string& name, int64_t gpus = 1) {
    Pod pod = With(ManagedPod(name, "n1", 3), [&](ManagedContainer& container) {
      container.profile = "reader";
      container.requested.gpus = Gpus(gpus);
    });
    state.UpsertPod(pod);
  }
  StorageFacts Facts(double bandwidth) const {
    return {.disks = {{"n1", {"vda", bandwidth}}},
            .readers = {{UidOf("a"), "n1"}, {UidOf("b"), "n1"}}};
  }
  std::string UidOf(const std::string& name) const { return ManagedPod(name, "n1", 3).uid; }
  std::shared_ptr<const Pod> Find(const std::string& name) const {
    return state.FindPod(UidOf(name));
  }
  NodeShares Shares() {
    snapshot = state.Snapshot();
    return SharesOn(NodeOf(*snapshot, "n1"), SharePurpose::kDivide,
                    {.profiles = held,
                     .memory = memory,
                     .at = at,
                     .round = std::chrono::minutes(5),
                     .storage = &storage});
  }

  HeldProfiles held;
  MeasuredStorage storage{held};
  TunerMemory memory;
  std::shared_ptr<const ClusterSnapshot> snapshot;
};

TEST_F(MeasuredStorageTest, NothingIsKnownAtFirst) {
  EXPECT_EQ(storage.BandwidthOf("n1"), 0);
  EXPECT_EQ(storage.ReadsOf(*Find("a")), std::nullopt);
  EXPECT_FALSE(Shares().shares.front().storage);
}

TEST_F(MeasuredStorageTest, AProfileThatWasMeasuredBesideOthersHasTheWholeDisk) {
  storage.Hold(Facts(90 * kMega));
  const std::optional<PodReads> reads = storage.ReadsOf(*Find("a"));
  ASSERT_TRUE(reads);
  EXPECT_EQ(reads->reads.Enough(), GiB(11));
  // The cache misses 6 of 10 GiB.
  const ResourceVector amounts{Gpus(1), Cores(3), GiB(5)};
  EXPECT_NEAR(held.Find("team", "reader", Gpus(1)).profile->ThroughputAt(Cores(3), GiB(5)),
              0.5 / 0.6, 0.01);
  EXPECT_NEAR(reads->profile->ThroughputAt(Cores(3), GiB(5)), 1, 0.01);
  EXPECT_NEAR(reads->reads.NeedOf(*reads->profile, amounts) / kMega, 60, 0.5);
  // A new figure is used at once.
  storage.Hold(Facts(30 * kMega));
  EXPECT_NEAR(storage.ReadsOf(*Find("a"))->profile->ThroughputAt(Cores(3), GiB(5)), 0.5, 0.01);
}

TEST_F(MeasuredStorageTest, SharesReadFromOneStorageAndMayHoldTheirWholeDataSets) {
  storage.Hold(Facts(90 * kMega));
  const NodeShares node_shares = Shares();
  ASSERT_EQ(node_shares.shares.size(), 2u);
  for (const PodShare& share : node_shares.shares) {
    ASSERT_TRUE(share.storage);
    EXPECT_EQ(share.storage->bandwidth, 90 * kMega);
    // Each of them needs 70 MB/s with 4 GiB.
    EXPECT_NEAR(share.storage->left / kMega, 45, 0.5);
    EXPECT_GE(share.most.memory, GiB(11));
  }
}

TEST_F(MeasuredStorageTest, ANodeIsDividedAgainOnceItsStorageIsKnown) {
  const Tuner tuner({}, held, &storage);
  memory = Tuner::StartOver(at);
  const auto pass_a_round = [&] {
    at.now += tuner.settings().round;
    at.wall += tuner.settings().round;
    return tuner.Plan(*state.Snapshot(), memory, at).actions.size();
  };
  // This storage has bandwidth for all.
  storage.Hold(Facts(1e12));
  EXPECT_EQ(pass_a_round(), 0u);
  tuner.ObserveStorage(memory, storage.Hold(Facts(90 * kMega)));
  EXPECT_EQ(tuner.Plan(*state.Snapshot(), memory, at).actions.size(), 0u) << "not before the round";
  EXPECT_GT(pass_a_round(), 0u);
}

TEST_F(MeasuredStorageTest, HoldReturnsTheNodesOfWhichSomethingElseIsKnown) {
  StorageFacts facts = Facts(90 * kMega);
  facts.disks["n2"] = {"vdb", kMega};
  EXPECT_THAT(storage.Hold(facts), UnorderedElementsAre("n1", "n2"));
  EXPECT_THAT(storage.Hold(facts), IsEmpty());
  facts.readers.erase(UidOf("b"));
  EXPECT_THAT(storage.Hold(facts), UnorderedElementsAre("n1"));
  facts.disks["n2"].bandwidth = 2 * kMega;
  EXPECT_THAT(storage.Hold(facts), UnorderedElementsAre("n2"));
}

TEST_F(MeasuredStorageTest, GangsOtherNumbersOfGpusAndPodsThatDoNotReadFromTheDiskAreUnknown) {
  AddReader("c");
  AddReader("b", 2);
  storage.Hold(Facts(90 * kMega));
  EXPECT_TRUE(storage.ReadsOf(*Find("a")));
  EXPECT_FALSE(storage.ReadsOf(*Find("b"))) << "two GPUs";
  EXPECT_FALSE(storage.ReadsOf(*Find("c"))) << "it does not read from the disk";
  Pod member = *Find("a");
  member.gang = std::make_shared<const Gang>(Gang{.name = "team/gang", .size = 2});
  EXPECT_FALSE(storage.ReadsOf(member));
  Pod moved = *Find("a");
  moved.node = "n2";
  EXPECT_FALSE(storage.ReadsOf(moved));
}

// Tests what placement knows of n1 and of its pods a and b.
class PlacementStorageTest : public MeasuredStorageTest {
 protected:
  PlacementStorageTest() { storage.Hold(Facts(100e6)); }
  PlacementStorage Known() const { return ForPlacement(storage, *state.Snapshot()); }
  double NeedOfOne() const { return storage.NeedOf(*Find("a")); }
  // Returns a pod that is not placed yet, with this memory in GiB.
  static Pod Waiting(int64_t memory) {
    return With(ManagedPod("waiting", "", 3, "reader"), [&](ManagedContainer& container) {
      container.demand.memory = container.requested.memory = GiB(memory);
    });
  }
};

TEST_F(PlacementStorageTest, KnowsTheNodesAndTheProfilesWhosePodsReadFromThem) {
  EXPECT_EQ(Known().bandwidths, (std::map<std::string, double>{{"n1", 100e6}}));
  const ProfileReads reads = Known().reads.at("team").at("reader");
  EXPECT_EQ(reads.gpus, Gpus(1));
  EXPECT_EQ(reads.process, GiB(1));
  EXPECT_EQ(reads.data_set, GiB(10));
  EXPECT_GT(reads.most, 0);
  storage.Hold({});
  EXPECT_EQ(Known(), PlacementStorage{});
}

TEST_F(PlacementStorageTest, APodThatIsNotPlacedYetNeedsWhatOthersWithItsProfileDo) {
  const PlacementNeeds needs(Known());
  EXPECT_EQ(needs.BandwidthOf("n1"), 100e6);
  EXPECT_EQ(needs.BandwidthOf("n2"), 0);
  EXPECT_EQ(needs.MostBandwidth(), 100e6);
  ASSERT_GT(NeedOfOne(), 0);
  EXPECT_NEAR(needs.NeedOf(*Find("a")), NeedOfOne(), 1);
  const double most = Known().reads.at("team").at("reader").most;
  EXPECT_NEAR(needs.NeedOf(Waiting(1)), most, 1);
  EXPECT_NEAR(needs.NeedOf(Waiting(6)), most / 2, 1) << "half of the data set fits";
  EXPECT_EQ(needs.NeedOf(Waiting(11)), 0);
  EXPECT_EQ(needs.NeedOf(ManagedPod("other", "", 3)), 0);
}

TEST_F(PlacementStorageTest, NeedsOfGangsOtherNamespacesAndOtherNumbersOfGpusAreUnknown) {
  const PlacementNeeds needs(Known());
  Pod member = Waiting(1);
  member.gang = std::make_shared<Gang>(Gang{.name = "team/g", .size = 2});
  EXPECT_EQ(needs.NeedOf(member), 0);
  Pod foreign = Waiting(1);
  foreign.pod_namespace = "others";
  EXPECT_EQ(needs.NeedOf(foreign), 0);
  EXPECT_EQ(needs.NeedOf(With(Waiting(1),
                              [](ManagedContainer& container) {
                                container.demand.gpus = container.requested.gpus = Gpus(2);
                              })),
            0);
}

TEST_F(PlacementStorageTest, AmountsThatAreNotPositiveNumbersAreIgnored) {
  PlacementStorage odd = Known();
  for (const double amount : {-1.0, 0.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    odd.bandwidths["n1"] = odd.bandwidths["n2"] = odd.reads["team"]["reader"].most = amount;
    const PlacementNeeds needs(odd);
    EXPECT_EQ(needs.BandwidthOf("n1"), 0);
    EXPECT_EQ(needs.MostBandwidth(), 0);
    EXPECT_EQ(needs.NeedOf(*Find("a")), 0);
  }
}

TEST_F(PlacementStorageTest, ANamespaceWithManyProfilesTakesNoRoomFromOthers) {
  const TunedProfile reader = held.Find("team", "reader", Gpus(1));
  StorageFacts facts = Facts(100e6);
  HeldProfiles::ByName by_name{{{"team", "reader"}, reader}};
  for (size_t i = 0; i <= PlacementStorage::kMostProfiles; ++i) {
    const std::string name = fmt::format("p{}", i);
    by_name[{"loud", name}] = reader;
    Pod pod = ManagedPod(name, "n1", 3, name);
    pod.pod_namespace = "loud";
    facts.readers[pod.uid] = "n1";
    state.UpsertPod(pod);
  }
  held.Hold(std::move(by_name), 2);
  storage.Hold(std::move(facts));
  EXPECT_EQ(Known().reads.at("team").size(), 1U);
  EXPECT_EQ(Known().reads.at("loud").size(), PlacementStorage::kMostProfiles / 2);
}

}  // namespace
}  // namespace synergy::testing
