#include "nodeagent/cgroups/storage/storage_meter.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"
#include "core/rounding.h"

namespace synergy::nodeagent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::DoubleNear;
using ::testing::IsEmpty;
using ::testing::Optional;

constexpr double kMB = 1e6;

// Tests a meter that reads the kernel's counters every 10 s, on a node with the disk "vdb".
class StorageMeterTest : public ::testing::Test {
 protected:
  ContainerIo& Container(const std::string& uid, const std::string& id = "1") {
    return reading_.containers[{uid, id}];
  }
  void Read(const std::string& uid, double bytes, double waited_part,
            const std::string& disk = "vdb") {
    ContainerIo& io = Container(uid);
    io.disks[disk].read += bytes;
    io.waited = io.waited.value_or(Duration()) + ToDuration(Seconds(10 * waited_part));
    reading_.all_pods[disk].read += bytes;
  }
  void Look(Duration length = seconds(10)) {
    reading_.at += length;
    reading_.wall += length;
    meter_.Observe(reading_);
  }
  const StorageUse* Of(const std::string& uid) {
    const auto found = meter_.uses().find(uid);
    return found == meter_.uses().end() ? nullptr : &found->second;
  }
  // Makes a pod read `rate` MB per second, and wait, for `looks` looks.
  void Contend(double rate, int looks, double waited_part = 0.5) {
    for (int look = 0; look < looks; ++look) {
      Read("a", 10 * rate * kMB, waited_part);
      Look();
    }
  }

  StorageReading reading_;
  StorageMeter meter_;
};

TEST_F(StorageMeterTest, SeesRateBackendAndWaits) {
  Read("a", 1000 * kMB, 0.9);
  Read("b", 0, 0);
  Look();
  EXPECT_THAT(meter_.uses(), IsEmpty()) << "one reading is no look";
  Read("a", 120 * kMB, 0.4);
  Read("a", 10 * kMB, 0, "vda");
  Read("b", 20 * kMB, 0);
  reading_.all_pods["vdb"].read += 60 * kMB;  // pods that are not managed read this
  Look();
  ASSERT_NE(Of("a"), nullptr);
  EXPECT_EQ(Of("a")->backend, "vdb");
  EXPECT_THAT(Of("a")->read, Optional(DoubleNear(12 * kMB, 1)));
  EXPECT_THAT(Of("a")->waited, Optional(DoubleNear(0.4, 1e-6)));
  EXPECT_THAT(Of("a")->all, Optional(DoubleNear(20 * kMB, 1)));
  EXPECT_EQ(Of("a")->bandwidth, std::nullopt);
  EXPECT_EQ(Of("a")->at, reading_.wall);
  ASSERT_NE(Of("b"), nullptr);
  EXPECT_THAT(Of("b")->read, Optional(DoubleNear(2 * kMB, 1)));
  EXPECT_THAT(meter_.waited().at("vdb"), seconds(4));
}

TEST_F(StorageMeterTest, BandwidthIsWhatAllReadWhileAPodWaits) {
  Contend(1, 1);
  Contend(13, 20, 0.1);
  EXPECT_EQ(meter_.BandwidthOf("vdb"), std::nullopt) << "no pod waits";
  Contend(20, StorageMeter::kFewestSamples - 1);
  EXPECT_EQ(meter_.BandwidthOf("vdb"), std::nullopt) << "too few looks";
  Contend(20, 1);
  EXPECT_THAT(meter_.BandwidthOf("vdb"), Optional(DoubleNear(20 * kMB, 1)));
  EXPECT_THAT(Of("a")->bandwidth, meter_.BandwidthOf("vdb"));
  EXPECT_EQ(meter_.BandwidthOf("vda"), std::nullopt);
}

TEST_F(StorageMeterTest, OddLooksDoNotDecideTheBandwidth) {
  Contend(20, 31);
  Contend(2, 10);   // the pod waits for something else
  Contend(500, 1);  // the data are from the disk's own cache
  EXPECT_THAT(meter_.BandwidthOf("vdb"), Optional(DoubleNear(20 * kMB, 1)));
}

TEST_F(StorageMeterTest, BandwidthFollowsADiskThatBecomesSlower) {
  Contend(100, 200);
  Contend(20, StorageMeter::kMostSamples);
  EXPECT_THAT(meter_.BandwidthOf("vdb"), Optional(DoubleNear(20 * kMB, 1)));
}

TEST_F(StorageMeterTest, BandwidthIsForgotten) {
  Contend(20, 10);
  for (Duration past{}; past <= StorageMeter::kForgotten; past += minutes(1)) Look(minutes(1));
  EXPECT_EQ(meter_.BandwidthOf("vdb"), std::nullopt);
  Contend(20, 10);
  ASSERT_TRUE(meter_.BandwidthOf("vdb"));
  reading_.all_pods.erase("vdb");
  Look();
  EXPECT_EQ(meter_.BandwidthOf("vdb"), std::nullopt) << "another disk may get its name";
  EXPECT_THAT(meter_.waited(), IsEmpty());
}

TEST_F(StorageMeterTest, WaitsOfAWriterGiveNoBandwidth) {
  for (int look = 0; look < 20; ++look) {
    Read("a", 20 * kMB, 0.9);
    Container("a").disks["vdb"].written += 900 * kMB;
    Look();
  }
  EXPECT_EQ(meter_.BandwidthOf("vdb"), std::nullopt);
}

TEST_F(StorageMeterTest, WaitsForACapGiveNoBandwidth) {
  Contend(20, 1);
  reading_.capped = {"a"};
  Contend(5, 20);
  EXPECT_EQ(meter_.BandwidthOf("vdb"), std::nullopt);
  EXPECT_THAT(meter_.waited(), IsEmpty());
  EXPECT_THAT(Of("a")->waited, Optional(DoubleNear(0.5, 1e-6)));
}

TEST_F(StorageMeterTest, LooksWithACappedReaderGiveNoBandwidth) {
  const auto look = [this] {
    Read("capped", 50 * kMB, 0.9);
    Contend(20, 1);
  };
  look();
  reading_.capped = {"capped"};
  for (int looks = 0; looks < 10; ++looks) look();
  EXPECT_EQ(meter_.BandwidthOf("vdb"), std::nullopt);
  EXPECT_THAT(meter_.waited().at("vdb"), seconds(50)) << "of the pod without a cap";
  reading_.capped.clear();
  for (int looks = 0; looks < 3; ++looks) look();
  EXPECT_THAT(meter_.BandwidthOf("vdb"), Optional(DoubleNear(25 * kMB, 1)));
}

// One thread that reads small files in turn waits all the time, and leaves a fast disk idle.
TEST_F(StorageMeterTest, ReadersThatDoNotWaitDisproveATooLowBandwidth) {
  Contend(20, 1 + StorageMeter::kMostSamples);
  ASSERT_THAT(meter_.BandwidthOf("vdb"), Optional(DoubleNear(20 * kMB, 1)));
  Contend(1000, StorageMeter::kMostSamples / 8, 0);
  EXPECT_THAT(meter_.BandwidthOf("vdb"), Optional(DoubleNear(1000 * kMB, 1)));
  Contend(10, StorageMeter::kMostSamples, 0);
  EXPECT_THAT(meter_.BandwidthOf("vdb"), Optional(DoubleNear(1000 * kMB, 1)))
      << "less is no sample while no pod waits";
}

TEST_F(StorageMeterTest, ReadsThatNoDiskDeliversAreTheNetworks) {
  Container("nfs").fetched = 0;
  Container("nfs").waited = Duration();
  Look();
  Read("nfs", 5 * kMB, 0.6);
  Container("nfs").fetched = 105 * kMB;
  Look();
  ASSERT_NE(Of("nfs"), nullptr);
  EXPECT_EQ(Of("nfs")->backend, kNetworkStorage);
  EXPECT_THAT(Of("nfs")->read, Optional(DoubleNear(10 * kMB, 1)));
  EXPECT_THAT(Of("nfs")->waited, Optional(DoubleNear(0.6, 1e-6)));
  EXPECT_EQ(Of("nfs")->all, std::nullopt);
  EXPECT_EQ(Of("nfs")->bandwidth, std::nullopt);
}

TEST_F(StorageMeterTest, WaitsWithoutAnyReadAreTheNetworksWhereReadsCannotBeSeen) {
  Read("a", 0, 0);
  Look();
  Read("a", 1000, 0.6);
  Look();
  ASSERT_NE(Of("a"), nullptr);
  EXPECT_EQ(Of("a")->backend, kNetworkStorage);
  EXPECT_EQ(Of("a")->read, std::nullopt);
  // Small reads of a slow disk are not taken for the network's.
  Read("a", 4 * kMB, 0.6);
  Look();
  EXPECT_EQ(Of("a"), nullptr);
}

TEST_F(StorageMeterTest, HardlyAnyReadsAreNoFigure) {
  Read("a", 0, 0);
  Look();
  Read("a", 4 * kMB, 0.1);
  Look();
  EXPECT_EQ(Of("a"), nullptr);
}

TEST_F(StorageMeterTest, CountersThatWereResetAreNoLook) {
  Contend(20, 3);
  Container("a").disks["vdb"].read = 5;
  Look();
  EXPECT_EQ(Of("a"), nullptr);
  reading_.containers.clear();
  Container("a", "2").disks["vdb"].read = 900 * kMB;  // the container has restarted
  Look();
  EXPECT_EQ(Of("a"), nullptr);
  reading_.all_pods["vdb"].read = 0;
  Contend(20, 1);
  EXPECT_EQ(meter_.BandwidthOf("vdb"), std::nullopt);
}

TEST_F(StorageMeterTest, LooksOfOddLengthsDoNotCount) {
  Contend(20, 2);
  Read("a", 500 * kMB, 1);
  Look(seconds(1));
  ASSERT_NE(Of("a"), nullptr);
  EXPECT_THAT(Of("a")->read, Optional(DoubleNear(20 * kMB, 1))) << "the figures stay";
  Read("a", 500 * kMB, 1);
  Look(hours(1));
  EXPECT_EQ(Of("a"), nullptr);
}

// Trainings with random needs share one disk, which gives each what it needs, up to an equal share.
// A training that gets less than it needs waits for the rest of the time.
struct MadeNode {
  explicit MadeNode(uint64_t seed) : random(seed) {
    disk = 20 * kMB + random.Uniform() * 2000 * kMB;
    const auto pods = 1 + static_cast<size_t>(random.Uniform() * 6);
    for (size_t pod = 0; pod < pods; ++pod)
      needs.push_back(disk * (0.05 + random.Uniform()) * 2 / static_cast<double>(pods));
  }
  std::vector<double> Rates() const {
    std::vector<double> sorted = needs;
    std::sort(sorted.begin(), sorted.end());
    double left = disk;
    double level = 0;
    for (size_t at = 0; at < sorted.size(); ++at) {
      level = left / static_cast<double>(sorted.size() - at);
      if (sorted[at] > level) break;
      left -= sorted[at];
      level = sorted[at];
    }
    std::vector<double> rates;
    for (const double need : needs) rates.push_back(std::min(need, level));
    return rates;
  }

  Random random;
  double disk = 0;
  std::vector<double> needs;
};

TEST_F(StorageMeterTest, FindsTheBandwidthOfAnyDiskThatIsShortAndOfNoOther) {
  int is_short = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    MadeNode node(seed);
    reading_ = {};
    meter_ = {};
    const std::vector<double> rates = node.Rates();
    double most_waited = 0;
    for (int look = 0; look < 60; ++look) {
      for (size_t pod = 0; pod < rates.size(); ++pod) {
        const double waited = 1 - rates[pod] / node.needs[pod];
        most_waited = std::max(most_waited, waited);
        const double around = 0.95 + 0.1 * node.random.Uniform();
        Read(std::to_string(pod), 10 * rates[pod] * around, waited);
      }
      Look();
    }
    const auto measured = meter_.BandwidthOf("vdb");
    if (most_waited < StorageMeter::kWaits) {
      EXPECT_EQ(measured, std::nullopt) << "seed " << seed;
    } else {
      ++is_short;
      EXPECT_THAT(measured, Optional(DoubleNear(node.disk, 0.06 * node.disk))) << "seed " << seed;
    }
  }
  EXPECT_GT(is_short, 50);
}

}  // namespace
}  // namespace synergy::nodeagent
