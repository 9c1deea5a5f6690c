// Tests storage that the pods of a node share: what is left for each, where pods go, and which get
// memory.

#include <memory>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocation/best_fit.h"
#include "allocation/gangs/gang_plan.h"
#include "allocation/storage/storage_left.h"
#include "allocation/surplus.h"
#include "support/known_storage.h"
#include "unit/allocation/allocation_fixture.h"

namespace synergy::testing {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;

// Ten iterations per second, which need 100 MB/s without a cache.
const DataReads kReads{.process = GB(10), .data_set = GB(100), .per_iteration = 1e7};
std::shared_ptr<const JobProfile> TenASecond() {
  return std::make_shared<const JobProfile>(
      JobProfile::Create(Gpus(1), {{Cores(1), GB(10), 10}})->WithProcessMemory(GB(10)));
}

TEST(StorageLeftTest, EachGetsItsNeedUpToAnEqualPartOfTheRest) {
  EXPECT_THAT(StorageParts(std::vector{10.0, 200.0, 90.0}, 150),
              ElementsAre(DoubleEq(10), DoubleEq(70), DoubleEq(70)));
  EXPECT_THAT(StorageParts(std::vector{10.0, 20.0}, 150), ElementsAre(10, 20));
}

TEST(StorageLeftTest, ToOneIsLeftWhatTheOthersNeedsLeaveAndAtLeastAnEqualPart) {
  EXPECT_DOUBLE_EQ(StorageLeftTo(0, {0, 10, 20}, 150), 120);
  EXPECT_DOUBLE_EQ(StorageLeftTo(0, {500, 200, 20}, 150), 65);
  EXPECT_DOUBLE_EQ(StorageLeftTo(0, {0}, 150), 150);
}

TEST(StorageLeftTest, AnUnknownBandwidthLimitsNothing) {
  EXPECT_THAT(StorageParts(std::vector{10.0, 200.0}, 0), ElementsAre(10, 200));
  EXPECT_GT(StorageLeftTo(0, {10, 200}, 0), 1e300);
}

class StorageSharesTest : public ::testing::Test {
 protected:
  PodShare Share(Bytes memory, size_t number = 0) const {
    PodShare share;
    share.profile = profile.get();
    share.current = share.fair = {Gpus(1), Cores(1), memory};
    share.least = {Gpus(1), Cores(1), kReads.process};
    share.most = {Gpus(1), Cores(1), kReads.Enough()};
    share.storage = OnStorage{.number = number, .reads = kReads, .bandwidth = 100e6};
    return share;
  }

  const std::shared_ptr<const JobProfile> profile = TenASecond();
};

TEST_F(StorageSharesTest, SharesOfOneStorageWaitForEachOther) {
  const std::vector<PodShare> shares = {Share(GB(10)), Share(GB(60)), Share(GB(10), 1)};
  EXPECT_EQ(StorageNeedOf(shares[0], shares[0].current), 100e6);
  EXPECT_EQ(StorageNeedOf(shares[1], shares[1].current), 50e6);
  EXPECT_THAT(ThroughputsTogether(shares, CurrentOf(shares)),
              ElementsAre(DoubleEq(0.5), DoubleEq(1), DoubleEq(1)));
}

TEST_F(StorageSharesTest, ThroughputsAreThoseOfTheAmountsAndNotOfThePresentOnes) {
  const std::vector<PodShare> shares = {Share(GB(10)), Share(GB(10))};
  std::vector<ResourceVector> amounts = CurrentOf(shares);
  amounts[1].memory = kReads.Enough();
  EXPECT_THAT(ThroughputsTogether(shares, amounts), ElementsAre(DoubleEq(1), DoubleEq(1)));
}

TEST_F(StorageSharesTest, MemoryGoesWhereItSavesTheReadsThatOthersWaitFor) {
  // By its own profile, neither is faster with more memory.
  const std::vector<PodShare> shares = {Share(GB(10)), Share(GB(10)), Share(GB(10))};
  const auto amounts = Regrow(WithStorageLeft(shares, CurrentOf(shares)), {Gpus(0), {}, GB(200)});
  double total = 0;
  for (const double throughput : ThroughputsTogether(shares, amounts)) total += throughput;
  EXPECT_NEAR(total, 3, 1e-6) << "two read nothing any more";
}

TEST_F(StorageSharesTest, AStorageWithEnoughForAllChangesNothing) {
  std::vector<PodShare> shares = {Share(GB(10)), Share(GB(60))};
  for (PodShare& share : shares) share.storage->bandwidth = 1e12;
  const auto amounts = Regrow(WithStorageLeft(shares, CurrentOf(shares)), {Gpus(0), {}, GB(200)});
  EXPECT_EQ(amounts, CurrentOf(shares));
}

class StorageFitTest : public AllocationFixture {
 protected:
  StorageFitTest() { storage.reads["reader"] = {TenASecond(), kReads}; }
  static Pod Reader(std::string name) {
    const ResourceVector amounts{Gpus(1), Cores(1), GB(10)};
    Pod pod = MakePod(std::move(name), amounts);
    auto fungible = std::make_shared<ManagedContainer>();
    fungible->profile = "reader";
    fungible->demand = fungible->requested = amounts;
    pod.fungible = std::move(fungible);
    return pod;
  }
  static Pod Other(std::string name) {
    Pod pod = Reader(std::move(name));
    auto fungible = std::make_shared<ManagedContainer>(*pod.fungible);
    fungible->profile = "other";
    pod.fungible = std::move(fungible);
    return pod;
  }
  FitRank RankOf(const Pod& pod, const std::string& node) {
    snapshot = state.Snapshot();
    const ReserveRule rule{.per_gpu = ResourceVector{}};
    return BestFit(pod, *snapshot, rule, AskOfStorage(pod, &storage))
        .Rank(testing::NodeOf(*snapshot, node));
  }

  KnownStorage storage;
};

TEST_F(StorageFitTest, TwoPodsThatWaitForStorageGoToDifferentNodes) {
  HaveNode("empty");
  HaveNode("has a reader");
  state.UpsertPod(OnNode(Reader("first"), "has a reader"));
  EXPECT_LT(RankOf(Reader("second"), "has a reader"), RankOf(Reader("second"), "empty"))
      << "nothing is known of their storage";
  storage.bandwidths = {{"empty", 100e6}, {"has a reader", 100e6}};
  EXPECT_LT(RankOf(Reader("second"), "empty"), RankOf(Reader("second"), "has a reader"));
  EXPECT_EQ(RankOf(Reader("second"), "has a reader").tier, FitTier::kShort);
  EXPECT_LT(RankOf(Other("other"), "has a reader"), RankOf(Other("other"), "empty"))
      << "it leaves the free storage to pods that need it";
}

TEST_F(StorageFitTest, AGangGoesWhereStorageIsLeftForAllItsMembers) {
  for (const char* node : {"a", "b", "c"}) HaveNode(node);
  state.UpsertPod(OnNode(Reader("first"), "a"));
  const std::vector members = {std::make_shared<const Pod>(Reader("m0")),
                               std::make_shared<const Pod>(Reader("m1"))};
  const auto places = [&](const StorageCatalog* known) {
    snapshot = state.Snapshot();
    const ReserveRule rule{.per_gpu = ResourceVector{}};
    GangTerms terms([](size_t, NodeIndex) { return true; });
    terms.storage = known;
    std::vector<std::string> names;
    for (const NodeIndex node : PlanGang(*snapshot, members, rule, terms).places)
      names.push_back(snapshot->node(node).detail->name);
    return names;
  };
  EXPECT_THAT(places(nullptr), ElementsAre("b", "b"));
  EXPECT_THAT(places(&storage), ElementsAre("b", "b")) << "no bandwidth is known";
  storage.bandwidths = {{"a", 250e6}, {"b", 150e6}, {"c", 200e6}};
  EXPECT_THAT(places(&storage), ElementsAre("c", "c")) << "a has 150 MB/s left";
}

TEST_F(StorageFitTest, APodWithoutAKnownNeedHasRoomWhereStorageIsShort) {
  HaveNode("n1");
  storage.bandwidths = {{"n1", 50e6}};
  state.UpsertPod(OnNode(Reader("reader"), "n1"));
  EXPECT_EQ(RankOf(Other("other"), "n1").tier, FitTier::kRoom);
  EXPECT_EQ(RankOf(Reader("second"), "n1").tier, FitTier::kShort);
}

}  // namespace
}  // namespace synergy::testing
