#include "allocation/storage/storage_caps.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "allocation/sharing.h"
#include "core/random.h"
#include "support/histories.h"

namespace synergy::testing {
namespace {

using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::SizeIs;

constexpr double kDiskMB = 1e6;
constexpr double kGreedy = std::numeric_limits<double>::infinity();

// A training on the disk "vdb".
struct DiskTrainer {
  double need = 0;  // bytes per second at full speed
  // requests: the disk's queue serves a pod more if it has more of them there
  double in_flight = 1;
  bool pauses = false;  // reads nothing for a while
  double latency = 0;   // fraction of time in which it waits although the disk is not overloaded
  bool managed = true;
};

// A node with one disk. The disk serves requests in turn, so pods share its bandwidth in proportion
// to their requests in flight. A pod gets no more than it needs, and no more than its cap.
class CappedDisk {
 public:
  void Look() {
    now_ += seconds(10);
    std::vector<ShareUser> users;
    for (const auto& [uid, trainer] : trainers)
      users.push_back({trainer.in_flight, std::min(Wanted(trainer), CapOf(uid))});
    const std::vector<double> rates = MaxMinShares(users, bandwidth);
    std::map<std::string, StorageUse> uses;
    std::set<std::string> pods;
    read.clear();
    double all = 0;
    size_t next = 0;
    for (const auto& [uid, trainer] : trainers) {
      const double rate = rates[next++];
      read[uid] = rate;
      all += rate;
      if (!trainer.managed) continue;
      pods.insert(uid);
      if (rate < kDiskMB) continue;
      const double lacks = trainer.need == kGreedy ? 1 : 1 - rate / trainer.need;
      uses[uid] = {.backend = "vdb",
                   .read = rate,
                   .waited = std::max(lacks, trainer.latency),
                   .all = {},
                   .bandwidth = known ? std::optional(bandwidth) : std::nullopt};
    }
    for (auto& [uid, use] : uses) use.all = all;
    caps.Observe(uses, pods, now_);
    total = all;
  }
  void Look(Duration time) {
    for (const Instant end = now_ + time; now_ < end;) Look();
  }
  double CapOf(const std::string& uid) const {
    const auto found = caps.caps().find(uid);
    return found == caps.caps().end() ? kGreedy : found->second.rate;
  }
  static double Wanted(const DiskTrainer& trainer) { return trainer.pauses ? 0 : trainer.need; }

  std::map<std::string, DiskTrainer> trainers;
  double bandwidth = 40 * kDiskMB;
  bool known = true;  // whether the bandwidth is known
  StorageCaps caps;
  std::map<std::string, double> read;  // uid -> bytes read in the last look
  double total = 0;

 private:
  Instant now_{};
};

class StorageCapsTest : public ::testing::Test {
 protected:
  StorageCapsTest() { disk.trainers = {{"hog", kHog}, {"modest", kModest}}; }

  const DiskTrainer kHog{.need = kGreedy, .in_flight = 8};
  const DiskTrainer kModest{.need = 13.6 * kDiskMB, .in_flight = 1.4};
  CappedDisk disk;
};

TEST_F(StorageCapsTest, AHogIsCappedSoThatAModestReaderGetsWhatItNeeds) {
  disk.Look(seconds(50));
  EXPECT_THAT(disk.caps.caps(), IsEmpty()) << "a minute is not over";
  const std::map<std::string, double> before = disk.read;
  EXPECT_LT(before.at("modest"), 0.5 * kModest.need);
  disk.Look(seconds(30));
  ASSERT_THAT(disk.caps.caps(), ElementsAre(Key("hog")));
  EXPECT_EQ(disk.caps.caps().at("hog").disk, "vdb");
  EXPECT_EQ(disk.caps.caps().at("hog").waiter, "modest");
  for (int look = 0; look < 100; ++look) {
    disk.Look();
    EXPECT_GE(disk.read.at("modest"), 0.9 * kModest.need);
    EXPECT_GE(disk.read.at("hog"), 0.8 * before.at("hog"));
    EXPECT_GE(disk.total, 0.98 * disk.bandwidth);
  }
}

TEST_F(StorageCapsTest, NoCapIsLeftAMinuteAfterNoOtherPodNeedsIt) {
  disk.Look(seconds(100));
  ASSERT_THAT(disk.caps.caps(), SizeIs(1));
  disk.trainers.at("modest").pauses = true;
  disk.Look(seconds(60));
  EXPECT_THAT(disk.caps.caps(), IsEmpty());
}

TEST_F(StorageCapsTest, NoCapIsLeftAMinuteAfterItsPodReadsLess) {
  disk.Look(seconds(100));
  disk.trainers.at("hog").need = 9 * kDiskMB;
  disk.Look(seconds(60));
  EXPECT_THAT(disk.caps.caps(), IsEmpty());
}

TEST_F(StorageCapsTest, ShortPausesChangeNothing) {
  disk.Look(seconds(100));
  disk.trainers.at("modest").pauses = true;
  disk.Look(seconds(20));
  disk.trainers.at("modest").pauses = false;
  disk.Look(seconds(20));
  EXPECT_GE(disk.read.at("modest"), 0.8 * kModest.need);
}

TEST_F(StorageCapsTest, AllCapsGoWithAPodOfTheDisk) {
  disk.trainers["other"] = kHog;
  disk.Look(seconds(100));
  ASSERT_THAT(disk.caps.caps(), SizeIs(2));
  disk.trainers.erase("other");
  disk.Look();
  EXPECT_THAT(disk.caps.caps(), IsEmpty());
  disk.Look(seconds(90));
  EXPECT_THAT(disk.caps.caps(), ElementsAre(Key("hog"))) << "after another minute";
}

TEST_F(StorageCapsTest, PodsThatReadTheirPartsAreNotCapped) {
  disk.trainers = {{"a", kHog}, {"b", kHog}, {"c", kHog}};
  disk.Look(seconds(300));
  EXPECT_THAT(disk.caps.caps(), IsEmpty());
}

TEST_F(StorageCapsTest, APodThatDoesNotWaitIsNotCapped) {
  disk.trainers.at("hog").need = 33 * kDiskMB;  // the hog gets that, and its CPU limits it
  disk.Look(seconds(300));
  EXPECT_LT(disk.read.at("modest"), 0.6 * kModest.need);
  EXPECT_THAT(disk.caps.caps(), IsEmpty());
}

TEST_F(StorageCapsTest, UnknownReadsAreNotDivided) {
  disk.known = false;
  disk.Look(seconds(300));
  EXPECT_THAT(disk.caps.caps(), IsEmpty()) << "the bandwidth";
  const auto use = [](const char* backend, std::optional<double> waited) {
    return StorageUse{
        .backend = backend, .read = 30e6, .waited = waited, .all = 40e6, .bandwidth = 40e6};
  };
  StorageCaps caps;
  StorageUse modest = use("vdb", 0.5);
  modest.read = 6e6;
  for (int look = 0; look < 30; ++look) {
    // The waits of one are unknown; the other does not read from a disk.
    caps.Observe({{"a", modest}, {"b", use("vdb", {})}, {"c", use("network", 1)}}, {"a", "b", "c"},
                 Instant(seconds(10 * look)));
    ASSERT_THAT(caps.caps(), IsEmpty());
  }
}

TEST_F(StorageCapsTest, PodsOfOthersAreNotCappedAndKeepTheirPart) {
  disk.trainers.at("hog").managed = false;
  disk.Look(seconds(300));
  EXPECT_THAT(disk.caps.caps(), IsEmpty());
}

TEST_F(StorageCapsTest, CapsWithoutUseAreRemovedUntilTheReadersChange) {
  // The pod waits for each of its small reads, whatever the others do.
  disk.trainers["modest"] = {.need = 5 * kDiskMB, .in_flight = 10, .latency = 0.9};
  disk.Look(seconds(80));
  ASSERT_THAT(disk.caps.caps(), SizeIs(1));
  disk.Look(seconds(60));
  ASSERT_THAT(disk.caps.caps(), IsEmpty());
  disk.Look(seconds(600));
  ASSERT_THAT(disk.caps.caps(), IsEmpty());
  disk.trainers["another"] = {.need = 2 * kDiskMB, .in_flight = 10};
  disk.Look();
  EXPECT_THAT(disk.caps.caps(), SizeIs(1));
}

TEST_F(StorageCapsTest, CapsChangeAtMostEveryTenSeconds) {
  std::map<std::string, StorageUse> uses = {
      {"hog", {.backend = "vdb", .read = 30e6, .waited = 1, .all = 36e6, .bandwidth = 40e6}},
      {"modest", {.backend = "vdb", .read = 6e6, .waited = 0.5, .all = 36e6, .bandwidth = 40e6}}};
  StorageCaps caps;
  Instant changed{};
  double rate = 0;
  int changes = 0;
  for (int look = 0; look < 100; ++look) {
    const Instant now(seconds(5 * look));
    // The pod's need alternates.
    uses.at("modest").waited = look % 2 == 0 ? 0.3 : 0.5;
    caps.Observe(uses, {"hog", "modest"}, now);
    const auto cap = caps.caps().find("hog");
    if (cap == caps.caps().end() || cap->second.rate == rate) continue;
    if (rate > 0) {
      ASSERT_GE(now - changed, StorageCaps::kShortestChange);
    }
    rate = cap->second.rate;
    changed = now;
    ++changes;
  }
  EXPECT_GT(changes, 1);
}

// The reader of one file after another kept few requests in flight, so the disk's bandwidth was
// taken for what it read alone.
TEST_F(StorageCapsTest, CapsCountWhatTheDiskWasSeenToDeliver) {
  std::map<std::string, StorageUse> uses = {
      {"hog", {.backend = "vdb", .read = 1000e6, .waited = 0.5, .all = 1008e6, .bandwidth = 20e6}},
      {"modest", {.backend = "vdb", .read = 8e6, .waited = 0.9, .all = 1008e6, .bandwidth = 20e6}}};
  StorageCaps caps;
  Instant now{};
  const auto look = [&](int looks) {
    for (int i = 0; i < looks; ++i) caps.Observe(uses, {"hog", "modest"}, now += seconds(10));
  };
  look(12);
  for (const auto& [uid, cap] : caps.caps()) EXPECT_GE(cap.rate, 504e6) << uid;
  // While the hog is capped, the disk delivers less and proves nothing.
  for (auto& [uid, use] : uses) use.all = 508e6;
  uses.at("hog").read = 500e6;
  look(12);
  for (const auto& [uid, cap] : caps.caps()) EXPECT_GE(cap.rate, 504e6) << uid;
}

TEST_F(StorageCapsTest, ABurstOfTheDiskDelaysCapsButDoesNotPreventThem) {
  std::map<std::string, StorageUse> uses = {
      {"hog", {.backend = "vdb", .read = 34e6, .waited = 1, .all = 500e6, .bandwidth = 40e6}},
      {"modest", {.backend = "vdb", .read = 6e6, .waited = 0.5, .all = 500e6, .bandwidth = 40e6}}};
  StorageCaps caps;
  Instant now{};
  caps.Observe(uses, {"hog", "modest"}, now);
  for (auto& [uid, use] : uses) use.all = 40e6;
  bool capped = false;
  for (const Instant end = now + 2 * StorageCaps::kRemembered; now < end && !capped;) {
    caps.Observe(uses, {"hog", "modest"}, now += seconds(10));
    capped = caps.caps().contains("hog");
  }
  EXPECT_TRUE(capped);
}

// Generates trainings that come, go and pause.
class RandomCappedDisk {
 public:
  explicit RandomCappedDisk(uint64_t seed) : random(seed) {
    disk.bandwidth = (20 + 1000 * random.Uniform()) * kDiskMB;
    for (int i = 0; i < 4; ++i) Come();
  }
  void Step() {
    const uint64_t event = random.Below(40);
    if (event == 0 && disk.trainers.size() < 8) Come();
    if (event == 1 && disk.trainers.size() > 1) disk.trainers.erase(disk.trainers.begin());
    for (auto& [uid, trainer] : disk.trainers) {
      if (random.Below(20) == 0) trainer.pauses = !trainer.pauses;
    }
    disk.Look();
  }
  void Come() {
    disk.trainers[std::to_string(next++)] = {
        .need = random.Below(3) == 0 ? kGreedy : disk.bandwidth * random.Uniform(),
        .in_flight = 1 + 10 * random.Uniform(),
        .latency = random.Below(4) == 0 ? random.Uniform() : 0,
        .managed = random.Below(5) > 0};
  }

  Random random;
  CappedDisk disk;
  int next = 0;
};

TEST(StorageCapsPropertyTest, NoPodIsCappedBelowAnEqualPartAndAllCapsFitTheDisk) {
  constexpr double kRounding = 1 - 1e-9;
  constexpr double kMost = (1 + StorageCaps::kHeadroom) * (1 + StorageCaps::kHysteresis);
  int capped = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Histories(200); ++seed) {
    SCOPED_TRACE(seed);
    RandomCappedDisk history(seed);
    for (int step = 0; step < 200; ++step) {
      history.Step();
      const CappedDisk& disk = history.disk;
      double sum = 0;
      const auto readers = static_cast<double>(
          std::count_if(disk.read.begin(), disk.read.end(),
                        [](const auto& entry) { return entry.second >= kDiskMB; }));
      for (const auto& [uid, cap] : disk.caps.caps()) {
        ++capped;
        ASSERT_TRUE(disk.trainers.contains(uid));
        ASSERT_TRUE(disk.trainers.at(uid).managed);
        ASSERT_LE(cap.rate, kMost * disk.bandwidth);
        if (disk.read.at(uid) < kDiskMB) continue;  // the training pauses
        sum += cap.rate;
        ASSERT_GE(cap.rate, kRounding * disk.bandwidth / readers);
      }
      ASSERT_LE(sum, kMost * disk.bandwidth);
    }
  }
  EXPECT_GT(capped, 1000);
}

TEST(StorageCapsPropertyTest, CapsAreLiftedWhenOnlyCappedPodsRead) {
  int lifted = 0;
  for (uint64_t seed = FirstSeed(); seed < FirstSeed() + Histories(200); ++seed) {
    SCOPED_TRACE(seed);
    RandomCappedDisk history(seed);
    for (int step = 0; step < 200 && history.disk.caps.caps().empty(); ++step) history.Step();
    if (history.disk.caps.caps().empty()) continue;
    const auto& caps = history.disk.caps.caps();
    for (auto& [uid, trainer] : history.disk.trainers) trainer.pauses = !caps.contains(uid);
    history.disk.Look(seconds(60));
    ASSERT_THAT(caps, IsEmpty());
    ++lifted;
  }
  EXPECT_GT(lifted, 50);
}

}  // namespace
}  // namespace synergy::testing
