#include "engine/sharing/gpu_turns.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace synergy::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

const Instant kTurnsStart{std::chrono::hours(1)};

GpuSharer SharerOn(std::string name, std::vector<int64_t> blocks, double weight = 1) {
  GpuSharer sharer{.name = std::move(name), .blocks = {}, .weight = weight};
  for (const int64_t block : blocks) sharer.blocks.push_back({"n", block});
  return sharer;
}

GpuSharer Newcomer(std::string name, std::vector<int64_t> blocks) {
  GpuSharer sharer = SharerOn(std::move(name), std::move(blocks));
  sharer.newcomer = true;
  return sharer;
}

std::vector<Duration> LengthsOf(const TurnGroup& group) {
  std::vector<Duration> lengths;
  for (const TurnSlot& slot : group.slots) lengths.push_back(slot.length);
  return lengths;
}

TEST(GpuTurnsTest, SharerAloneRunsAlways) {
  GpuTurns turns;
  const std::vector<GpuSharer> sharers = {SharerOn("a", {0}), SharerOn("b", {1})};
  turns.Plan(kTurnsStart, sharers);
  EXPECT_TRUE(turns.groups().empty());
  EXPECT_EQ(turns.NextSwitch(kTurnsStart), std::nullopt);
  EXPECT_TRUE(turns.Runs("a", kTurnsStart) && turns.Runs("b", kTurnsStart));
}

TEST(GpuTurnsTest, TwoSharersHaveAMinuteEach) {
  GpuTurns turns;
  const std::vector<GpuSharer> sharers = {SharerOn("a", {0}), SharerOn("b", {0})};
  turns.Plan(kTurnsStart, sharers);
  EXPECT_TRUE(turns.Runs("a", kTurnsStart));
  EXPECT_FALSE(turns.Runs("b", kTurnsStart));
  EXPECT_EQ(turns.NextSwitch(kTurnsStart), kTurnsStart + seconds(60));
  EXPECT_FALSE(turns.Runs("a", kTurnsStart + seconds(60)));
  EXPECT_TRUE(turns.Runs("b", kTurnsStart + seconds(119)));
  EXPECT_TRUE(turns.Runs("a", kTurnsStart + seconds(120)));
}

TEST(GpuTurnsTest, SuspensionsLastAtMost110Seconds) {
  for (const size_t height : {2, 3, 4}) {
    GpuTurns turns;
    std::vector<GpuSharer> sharers;
    for (size_t at = 0; at < height; ++at)
      sharers.push_back(SharerOn("s" + std::to_string(at), {0}));
    turns.Plan(kTurnsStart, sharers);
    const Duration quantum = std::min<Duration>(seconds(60), milliseconds(110'000 / (height - 1)));
    for (const Duration length : LengthsOf(turns.groups().at(0))) EXPECT_EQ(length, quantum);
  }
}

TEST(GpuTurnsTest, MoreThanFourTakeNoTurns) {
  GpuTurns turns;
  std::vector<GpuSharer> sharers;
  for (const char* name : {"a", "b", "c", "d", "e"}) sharers.push_back(SharerOn(name, {0}));
  turns.Plan(kTurnsStart, sharers);
  EXPECT_TRUE(turns.groups().empty());
  EXPECT_EQ(turns.without_turns(), (std::vector<std::string>{"a", "b", "c", "d", "e"}));
  EXPECT_TRUE(turns.Runs("e", kTurnsStart));
}

TEST(GpuTurnsTest, SlotsAreInProportionToWeightsDownToTheLeastSlot) {
  GpuTurns turns;
  const std::vector<GpuSharer> twice = {SharerOn("a", {0}, 2), SharerOn("b", {0}, 1)};
  turns.Plan(kTurnsStart, twice);
  EXPECT_EQ(LengthsOf(turns.groups().at(0)), (std::vector<Duration>{seconds(80), seconds(40)}));
  const std::vector<GpuSharer> much = {SharerOn("c", {0}, 9), SharerOn("d", {0}, 1)};
  turns.Plan(kTurnsStart, much);
  EXPECT_EQ(LengthsOf(turns.groups().at(0)), (std::vector<Duration>{seconds(90), seconds(30)}));
}

TEST(GpuTurnsTest, NewcomerHasTheNextSlot) {
  GpuTurns turns;
  const std::vector<GpuSharer> two = {SharerOn("a", {0}), SharerOn("b", {0})};
  turns.Plan(kTurnsStart, two);
  const std::vector<GpuSharer> three = {SharerOn("a", {0}), SharerOn("b", {0}), Newcomer("c", {0})};
  turns.Plan(kTurnsStart + seconds(20), three);
  const TurnGroup group = turns.groups().at(0);
  // The slot of a continues, and is shorter now.
  EXPECT_TRUE(turns.Runs("a", kTurnsStart + seconds(54)));
  EXPECT_TRUE(turns.Runs("c", kTurnsStart + seconds(55)));
  EXPECT_TRUE(turns.Runs("b", kTurnsStart + seconds(110)));
}

TEST(GpuTurnsTest, NewcomerBesideOneThatHasRunForLongRunsAtOnce) {
  GpuTurns turns;
  const std::vector<GpuSharer> one = {SharerOn("a", {0})};
  turns.Plan(kTurnsStart, one);
  const std::vector<GpuSharer> two = {SharerOn("a", {0}), Newcomer("b", {0})};
  turns.Plan(kTurnsStart + minutes(10), two);
  EXPECT_TRUE(turns.Runs("b", kTurnsStart + minutes(10)));
  EXPECT_TRUE(turns.Runs("a", kTurnsStart + minutes(11)));
}

TEST(GpuTurnsTest, SharerThatDoesNotComeAnewHasTheLastSlot) {
  GpuTurns turns;
  const std::vector<GpuSharer> two = {SharerOn("a", {0}), SharerOn("b", {0})};
  turns.Plan(kTurnsStart, two);
  const std::vector<GpuSharer> three = {SharerOn("a", {0}), SharerOn("b", {0}), SharerOn("c", {0})};
  turns.Plan(kTurnsStart + seconds(20), three);
  EXPECT_TRUE(turns.Runs("b", kTurnsStart + seconds(55)));
  EXPECT_TRUE(turns.Runs("c", kTurnsStart + seconds(110)));
}

TEST(GpuTurnsTest, NextBeginsWhenTheOneWhoseSlotItIsLeaves) {
  GpuTurns turns;
  const std::vector<GpuSharer> three = {SharerOn("a", {0}), SharerOn("b", {0}), SharerOn("c", {0})};
  turns.Plan(kTurnsStart, three);
  const std::vector<GpuSharer> two = {SharerOn("b", {0}), SharerOn("c", {0})};
  turns.Plan(kTurnsStart + seconds(5), two);
  EXPECT_TRUE(turns.Runs("b", kTurnsStart + seconds(5)));
  EXPECT_TRUE(turns.Runs("c", kTurnsStart + seconds(65)));
}

TEST(GpuTurnsTest, SharerThatStartsUpOrIdlesHoldsNoSlotAndIsNotSuspended) {
  GpuTurns turns;
  std::vector<GpuSharer> sharers = {SharerOn("a", {0}), SharerOn("b", {0})};
  sharers[1].active = false;
  turns.Plan(kTurnsStart, sharers);
  EXPECT_TRUE(turns.groups().empty());
  EXPECT_TRUE(turns.Runs("a", kTurnsStart + seconds(90)) &&
              turns.Runs("b", kTurnsStart + seconds(90)));
}

TEST(GpuTurnsTest, GangIsOneVertexAndIdleBlocksAreFilled) {
  GpuTurns turns;
  const std::vector<GpuSharer> sharers = {SharerOn("gang", {0, 1}), SharerOn("a", {0}),
                                          SharerOn("b", {1}), SharerOn("c", {1})};
  turns.Plan(kTurnsStart, sharers);
  const TurnGroup group = turns.groups().at(0);
  ASSERT_EQ(group.slots.size(), 3U);
  for (const TurnSlot& slot : group.slots) {
    const bool gang = std::binary_search(slot.runs.begin(), slot.runs.end(), "gang");
    EXPECT_EQ(slot.runs.size(), gang ? 1U : 2U);  // no block is idle
  }
}

TEST(GpuTurnsTest, IdleBlocksGoToTheSameSharersWhicheverSlotIsTheCurrentOne) {
  const std::vector<GpuSharer> sharers = {SharerOn("p", {0}),    SharerOn("q", {0}),
                                          SharerOn("r", {0}),    SharerOn("y", {1}),
                                          SharerOn("x", {1, 2}), SharerOn("z", {2, 0})};
  GpuTurns turns;
  turns.Plan(kTurnsStart, sharers);
  const GpuTurns first = turns;
  for (Instant now = kTurnsStart; now < kTurnsStart + minutes(5); now += seconds(11)) {
    turns.Plan(now, sharers);
    for (const GpuSharer& sharer : sharers)
      ASSERT_EQ(turns.Runs(sharer.name, now), first.Runs(sharer.name, now)) << sharer.name;
  }
}

TEST(GpuTurnsTest, HeldSharersKeepTheirSlots) {
  GpuTurns turns;
  std::vector<GpuSharer> sharers = {SharerOn("a", {0}), SharerOn("b", {0}), SharerOn("c", {0})};
  turns.Plan(kTurnsStart, sharers);
  const GpuTurns first = turns;
  turns.Plan(kTurnsStart + seconds(40), {}, {}, {"a", "b"});
  EXPECT_TRUE(turns.AreTogether("a", "b"));
  EXPECT_FALSE(turns.AreTogether("a", "c"));
  for (Duration later{}; later < minutes(6); later += seconds(7)) {
    for (const char* name : {"a", "b"})
      ASSERT_EQ(turns.Runs(name, kTurnsStart + later), first.Runs(name, kTurnsStart + later));
  }
  // Then they go on, and the one that was left out comes last.
  turns.Plan(kTurnsStart + seconds(80), sharers);
  EXPECT_TRUE(turns.Runs("b", kTurnsStart + seconds(109)));
  EXPECT_TRUE(turns.Runs("a", kTurnsStart + seconds(110)));
  EXPECT_TRUE(turns.Runs("c", kTurnsStart + seconds(165)));
}

TEST(GpuTurnsTest, PackRunsInOneSlot) {
  GpuTurns turns;
  const std::vector<GpuSharer> sharers = {SharerOn("a", {0}), SharerOn("b", {0}),
                                          SharerOn("c", {0})};
  const std::vector<GpuPack> packs = {{"a", "c"}, {"b", "gone"}};
  turns.Plan(kTurnsStart, sharers, packs);
  EXPECT_TRUE(turns.Runs("a", kTurnsStart) && turns.Runs("c", kTurnsStart));
  EXPECT_FALSE(turns.Runs("b", kTurnsStart));
  // Each of the two contributes its weight.
  EXPECT_EQ(LengthsOf(turns.groups().at(0)), (std::vector<Duration>{seconds(80), seconds(40)}));
  turns.Plan(kTurnsStart + seconds(10), sharers);
  EXPECT_EQ(turns.groups().at(0).slots.size(), 3U);
  EXPECT_TRUE(turns.Runs("a", kTurnsStart + seconds(10)));
  EXPECT_FALSE(turns.Runs("c", kTurnsStart + seconds(10)));
}

TEST(GpuTurnsTest, OtherGroupsAreNotTouched) {
  GpuTurns turns;
  std::vector<GpuSharer> sharers = {SharerOn("a", {0}), SharerOn("b", {0}), SharerOn("c", {1}),
                                    SharerOn("d", {1})};
  turns.Plan(kTurnsStart, sharers);
  sharers.push_back(Newcomer("e", {1}));
  turns.Plan(kTurnsStart + seconds(70), sharers);
  EXPECT_TRUE(turns.Runs("b", kTurnsStart + seconds(70)));
  EXPECT_TRUE(turns.Runs("b", kTurnsStart + seconds(119)));
  EXPECT_TRUE(turns.Runs("a", kTurnsStart + seconds(120)));
}

}  // namespace
}  // namespace synergy::testing
