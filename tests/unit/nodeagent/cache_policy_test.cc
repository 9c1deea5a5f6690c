#include "nodeagent/memory/cache_policy.h"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/random.h"

namespace synergy::nodeagent {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::Each;
using ::testing::ElementsAre;

NodeMemory Node(Bytes total, Bytes free) { return {total, free, free}; }

// On this node 2 % are kept free: 1 GiB.
const NodeMemory kRoomy = Node(GiB(64), GiB(40));
const NodeMemory kFull = Node(GiB(64), GiB(1));

ShareUse Use(Bytes share, Bytes usage, Bytes cache) { return {share, usage, cache, false}; }

TEST(WantedDrops, LeavesUnneededMemoryToReaders) {
  const std::vector<ShareUse> uses = {Use(GiB(10), GiB(30), GiB(25)), Use(GiB(10), GiB(4), GiB(1))};
  EXPECT_THAT(WantedDrops(uses, kRoomy, false), Each(Bytes(0)));
}

TEST(WantedDrops, TakesWhatOthersLackOfTheirShares) {
  const std::vector<ShareUse> uses = {Use(GiB(10), GiB(30), GiB(25)), Use(GiB(10), GiB(4), GiB(1))};
  EXPECT_THAT(WantedDrops(uses, kFull, false), ElementsAre(GiB(6), Bytes(0)));
}

TEST(WantedDrops, TakesFromEachByHowFarItIsAbove) {
  const std::vector<ShareUse> uses = {Use(GiB(10), GiB(22), GiB(20)), Use(GiB(10), GiB(14), GiB(9)),
                                      Use(GiB(16), GiB(8), GiB(8))};
  EXPECT_THAT(WantedDrops(uses, kFull, false), ElementsAre(GiB(6), GiB(2), Bytes(0)));
}

TEST(WantedDrops, KeepsAStrictPodToItsShareAnyway) {
  ShareUse use = Use(GiB(10), GiB(30), GiB(25));
  use.strict = true;
  EXPECT_THAT(WantedDrops(std::vector{use}, kRoomy, false), ElementsAre(GiB(20)));
}

TEST(WantedDrops, NeverIsMoreThanTheCacheThereIs) {
  ShareUse use = Use(GiB(10), GiB(30), GiB(3));
  use.strict = true;
  EXPECT_THAT(WantedDrops(std::vector{use}, kFull, true), ElementsAre(GiB(3)));
}

TEST(WantedDrops, TakesAllCacheAboveSharesWhereTheNodeIsShort) {
  const std::vector<ShareUse> uses = {Use(GiB(10), GiB(30), GiB(25)), Use(GiB(10), GiB(4), GiB(1))};
  EXPECT_THAT(WantedDrops(uses, kRoomy, true), ElementsAre(GiB(20), Bytes(0)));
}

TEST(IsShort, IsTrueBeforeTheKubeletEvicts) {
  EXPECT_FALSE(IsShort({GiB(64), GiB(1), GiB(3)}, MiB(100)));
  EXPECT_TRUE(IsShort({GiB(64), GiB(1), GiB(2)}, MiB(100)));
  EXPECT_TRUE(IsShort({GiB(2), MiB(100), MiB(200)}, MiB(100)));
  EXPECT_FALSE(IsShort({GiB(2), MiB(100), MiB(300)}, MiB(100)));
}

constexpr Bytes kSmallest = MiB(4);

// Tests a container that is examined once a second.
class CachePaceTest : public ::testing::Test {
 protected:
  CachePaceTest() {
    sample.use = {GiB(4), GiB(1)};
    sample.cache = GiB(400);
    sample.stalled = Duration::zero();
    sample.cache_can_be_released = true;
  }

  Bytes After(Duration time, Bytes wanted = GiB(20), bool urgent = false) {
    now += time;
    sample.cache -= dropped;
    const Bytes amount = dropped = pace.Next(sample, wanted, urgent, now);
    pace.Dropped(amount, true, now);
    return amount;
  }

  CachePace pace;
  MemorySample sample;
  Bytes dropped;
  Instant now{std::chrono::hours(1)};
};

TEST_F(CachePaceTest, BeginsWithSmallStepsThatGrow) {
  EXPECT_EQ(After(seconds(1)), MiB(16));
  EXPECT_EQ(After(seconds(1)), MiB(32));
  for (int i = 0; i < 10; ++i) After(seconds(1));
  EXPECT_EQ(After(seconds(1)), MiB(512));
  EXPECT_EQ(After(seconds(1), MiB(40)), MiB(40));
}

TEST_F(CachePaceTest, StopsWhenAProcessWaitsForMemoryAndLongerEachTime) {
  for (int i = 0; i < 8; ++i) After(seconds(1));
  *sample.stalled += milliseconds(50);
  EXPECT_EQ(After(seconds(1)), Bytes(0));
  EXPECT_EQ(pace.brake(), CachePace::Brake::kPressure);
  EXPECT_EQ(After(milliseconds(500)), Bytes(0));
  EXPECT_EQ(After(milliseconds(600)), kSmallest);
  *sample.stalled += milliseconds(50);
  EXPECT_EQ(After(seconds(1)), Bytes(0));
  EXPECT_EQ(After(milliseconds(1500)), Bytes(0));
  EXPECT_EQ(After(milliseconds(600)), kSmallest);
}

TEST_F(CachePaceTest, DropsNothingWhileAProcessKeepsWaiting) {
  After(seconds(1));
  for (int i = 0; i < 100; ++i) {
    *sample.stalled += milliseconds(100);
    EXPECT_EQ(After(seconds(1)), Bytes(0)) << i;
  }
}

TEST_F(CachePaceTest, GoesInSmallerStepsWhileWhatWasDroppedIsReadAgain) {
  for (int i = 0; i < 6; ++i) After(seconds(1));
  const Bytes before = After(seconds(1));
  sample.refaulted += before;
  EXPECT_EQ(After(seconds(1)), Bytes(before.count() / 2));
  EXPECT_EQ(pace.brake(), CachePace::Brake::kRefaults);
  for (int i = 0; i < 20; ++i) {
    sample.refaulted += GiB(1);
    After(seconds(1));
  }
  sample.refaulted += GiB(1);
  EXPECT_EQ(After(seconds(1)), kSmallest);
}

// The container reads more than its share can hold.
TEST_F(CachePaceTest, CacheReadMeanwhileMayBeDroppedBesides) {
  for (int i = 0; i < 20; ++i) {
    sample.refaulted += GiB(1);
    sample.cache += MiB(200);
    After(seconds(1));
  }
  sample.refaulted += GiB(1);
  sample.cache += MiB(200);
  EXPECT_EQ(After(seconds(1)), MiB(200) + kSmallest);
}

TEST_F(CachePaceTest, MissesOfAContainerThatDropsNothingAreNotOurDoing) {
  After(seconds(1));
  After(seconds(1), Bytes(0));
  sample.refaulted += GiB(10);
  EXPECT_EQ(After(seconds(1)), MiB(32));
}

TEST_F(CachePaceTest, AShortNodeIsNotWaitedFor) {
  After(seconds(1));
  *sample.stalled += milliseconds(500);
  EXPECT_EQ(After(seconds(1), GiB(20), true), MiB(512));
}

TEST_F(CachePaceTest, AsksForNothingWhereAnonymousMemoryCouldGoToo) {
  sample.cache_can_be_released = false;
  EXPECT_EQ(After(seconds(1), GiB(20), true), Bytes(0));
}

TEST_F(CachePaceTest, DoesWithoutPressureWhereTheKernelHasNone) {
  sample.stalled.reset();
  EXPECT_EQ(After(seconds(1)), MiB(16));
  EXPECT_EQ(After(seconds(1)), MiB(32));
}

// Anonymous memory comes and goes by gigabytes per second, and page cache takes the rest that is
// free.
TEST(CachePolicy, NeverAsksForMoreThanCacheWhateverAnonymousMemoryDoes) {
  Random random(1);
  CachePace pace;
  Instant now{std::chrono::hours(1)};
  Bytes anonymous = GiB(4);
  Bytes cache = GiB(20);
  const Bytes share = GiB(16);
  int below = 0;
  constexpr int kLooks = 4000;
  for (int i = 0; i < kLooks; ++i) {
    now += milliseconds(250);
    const auto change = MiB(static_cast<int64_t>(random.Below(1500)) - 750);
    anonymous = std::clamp(anonymous + change, MiB(100), GiB(14));
    MemorySample sample;
    sample.use = {anonymous + cache, anonymous};
    sample.cache = cache;
    sample.stalled = Duration::zero();
    sample.cache_can_be_released = true;
    const ShareUse use{share, sample.use.usage, cache, true};
    const Bytes wanted = WantedDrops(std::vector{use}, kRoomy, false)[0];
    const Bytes amount = pace.Next(sample, wanted, false, now);
    ASSERT_LE(amount, cache);
    ASSERT_LE(amount, std::max(sample.use.usage - share, Bytes(0)));
    cache -= amount;
    pace.Dropped(amount, true, now);
    below += anonymous + cache <= share + GiB(1) ? 1 : 0;
    cache += MiB(static_cast<int64_t>(random.Below(100)));  // the container reads 200 MB per second
  }
  // It was above its share only while it grew.
  EXPECT_GT(below, kLooks * 8 / 10);
}

}  // namespace
}  // namespace synergy::nodeagent
