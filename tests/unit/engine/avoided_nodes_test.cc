#include "engine/retries/avoided_nodes.h"

#include <chrono>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr WallTime kNow{Duration(std::chrono::hours(500'000))};

TEST(AvoidedNodesTest, ANodeIsAvoidedByItsWorkloadAloneUntilThatLapses) {
  AvoidedNodes nodes;
  EXPECT_TRUE(nodes.Add({"team", "bert", "b", kNow + 1h}));
  EXPECT_TRUE(nodes.Add({"team", "bert", "a", kNow + 2h}));
  EXPECT_THAT(nodes.Of("team", "bert", kNow), ElementsAre("a", "b"));
  for (const char* other : {"", "ber", "bert2"})
    EXPECT_THAT(nodes.Of("team", other, kNow), IsEmpty());
  EXPECT_THAT(nodes.Of("tea", "bert", kNow), IsEmpty());
  EXPECT_THAT(nodes.Of("team", "bert", kNow + 1h), ElementsAre("a"));
  nodes.DropLapsed(kNow + 1h);
  EXPECT_THAT(nodes.All(), ElementsAre(AvoidedNode{"team", "bert", "a", kNow + 2h}));
}

TEST(AvoidedNodesTest, AKnownEntryLastsLongerAndNeverShorter) {
  AvoidedNodes nodes;
  nodes.Add({"team", "bert", "a", kNow + 1h});
  EXPECT_FALSE(nodes.Add({"team", "bert", "a", kNow + 1h}));
  EXPECT_FALSE(nodes.Add({"team", "bert", "a", kNow + 30min}));
  EXPECT_THAT(nodes.Of("team", "bert", kNow + 45min), SizeIs(1));
  EXPECT_TRUE(nodes.Add({"team", "bert", "a", kNow + 2h}));
  EXPECT_THAT(nodes.Of("team", "bert", kNow + 90min), SizeIs(1));
  EXPECT_THAT(nodes.All(), SizeIs(1));
}

TEST(AvoidedNodesTest, ANamespaceWithManyEntriesTakesNoRoomFromOthers) {
  AvoidedNodes nodes;
  nodes.Add({"quiet", "bert", "a", kNow + 1s});
  for (size_t i = 0; i < 2 * AvoidedNodes::kMost; ++i)
    EXPECT_TRUE(nodes.Add({"loud", fmt::format("w-{}", i), "a", kNow + 1h + i * 1s}));
  EXPECT_THAT(nodes.All(), SizeIs(AvoidedNodes::kMost));
  EXPECT_THAT(nodes.Of("quiet", "bert", kNow), SizeIs(1));
  // The entries that last longest stay.
  EXPECT_THAT(nodes.Of("loud", fmt::format("w-{}", 2 * AvoidedNodes::kMost - 1), kNow), SizeIs(1));
  EXPECT_THAT(nodes.Of("loud", "w-0", kNow), IsEmpty());
  EXPECT_FALSE(nodes.Add({"loud", "w-0", "a", kNow + 1s})) << "it would lapse first";
  EXPECT_TRUE(nodes.Add({"quiet", "bert", "b", kNow + 1s}));
  EXPECT_THAT(nodes.Of("quiet", "bert", kNow), ElementsAre("a", "b"));
}

}  // namespace
}  // namespace synergy
