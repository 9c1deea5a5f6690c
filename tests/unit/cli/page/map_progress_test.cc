#include <chrono>

#include <gtest/gtest.h>

#include "cli/page/cluster_map.h"

namespace synergy::cli::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr WallTime kProgressNow{seconds(10000)};

KnownProgress Training() {
  KnownProgress known;
  known.pod.iteration = 370;
  known.pod.total = 999;
  known.pod.rate = 12.34;
  known.pod.remaining = seconds(100);
  known.pod.last = known.at = kProgressNow - seconds(4);
  known.age = seconds(4);
  return known;
}

TEST(MapProgressTest, TimesAreOfTheClock) {
  const MapProgress progress = ProgressOnMap(Training(), kProgressNow);
  EXPECT_EQ(progress.rate->amount, 12.34);
  EXPECT_FALSE(progress.rate->busy);
  EXPECT_EQ(progress.done, 0.37);
  EXPECT_EQ(progress.ends, 10096);
  EXPECT_FALSE(progress.silent);
}

TEST(MapProgressTest, ForeseenProgressIsPublishedOnce) {
  KnownProgress later = Training();
  later.at = kProgressNow + seconds(10);
  later.pod.last = later.at;
  later.pod.remaining = seconds(87);
  later.pod.rate = 12.5;
  later.age = milliseconds(300);
  const MapProgress published = ProgressOnMap(Training(), kProgressNow);
  const WallTime now = later.at + later.age;
  EXPECT_TRUE(Alike(published, ProgressOnMap(later, now), now));
  later.pod.iteration = 390;
  EXPECT_FALSE(Alike(published, ProgressOnMap(later, now), now)) << "two per cent more are done";
}

TEST(MapProgressTest, FasterProgressIsPublished) {
  const MapProgress published = ProgressOnMap(Training(), kProgressNow);
  KnownProgress faster = Training();
  faster.pod.rate = 13;
  EXPECT_FALSE(Alike(published, ProgressOnMap(faster, kProgressNow), kProgressNow));
  KnownProgress sooner = Training();
  sooner.pod.remaining = seconds(97);
  EXPECT_FALSE(Alike(published, ProgressOnMap(sooner, kProgressNow), kProgressNow));
  KnownProgress untold = Training();
  untold.pod.rate.reset();
  EXPECT_FALSE(Alike(published, ProgressOnMap(untold, kProgressNow), kProgressNow));
}

TEST(MapProgressTest, StalledPodHasNoEnd) {
  KnownProgress silent = Training();
  silent.pod.last = silent.at - seconds(300);
  const MapProgress progress = ProgressOnMap(silent, kProgressNow);
  EXPECT_EQ(progress.silent, 9696);
  EXPECT_FALSE(progress.ends);
  EXPECT_FALSE(Alike(ProgressOnMap(Training(), kProgressNow), progress, kProgressNow));
}

TEST(MapProgressTest, AnEstimateIsMarkedAsOne) {
  KnownProgress busy;
  busy.pod.estimate = BusyEstimate{.busy = 100, .rate = 0.83};
  const MapProgress progress = ProgressOnMap(busy, kProgressNow);
  EXPECT_TRUE(progress.rate->busy);
  EXPECT_EQ(progress.rate->amount, 0.83);
  EXPECT_FALSE(progress.done);
}

}  // namespace
}  // namespace synergy::cli::testing
