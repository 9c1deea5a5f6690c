#include "wire/pods/moves.h"

#include <chrono>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

Result<ListPage<MovablePod>> ReadMovable(const std::string& annotations,
                                         const std::string& owners = "[]") {
  return KindReader<MovablePod>::ReadList(
      R"({"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"p","namespace":"team",
      "uid":"u","annotations":)" +
          annotations + R"(,"ownerReferences":)" + owners +
          R"(},"spec":{"nodeSelector":{"zone":"a"}}}]})",
      {});
}

TEST(MovesWireTest, APodMovesOnlyByItsAnnotation) {
  const auto page = ReadMovable(R"({"synergy.io/moves":"true","synergy.io/checkpoint":"true"})",
                                R"([{"apiVersion":"v1","kind":"Other","name":"x","uid":"1"},
          {"apiVersion":"batch/v1","kind":"Job","name":"train","uid":"2","controller":true}])");
  ASSERT_TRUE(page) << page.error().message;
  const MovablePod& pod = page->items.front();
  EXPECT_TRUE(pod.moves);
  EXPECT_TRUE(pod.checkpoints);
  EXPECT_EQ(pod.owner, (ObjectOwner{"batch/v1", "Job", "train", "2"}));
  EXPECT_EQ(pod.selection->node_selector, (Labels{{"zone", "a"}}));
  for (const char* other : {"{}", R"({"synergy.io/moves":"True"})"}) {
    const auto none = ReadMovable(other);
    ASSERT_TRUE(none);
    EXPECT_FALSE(none->items.front().moves) << other;
    EXPECT_EQ(none->items.front().selection, nullptr);
  }
}

TEST(MovesWireTest, OnlyARuleThatIgnoresDisruptionsFirstMakesEvictionsSafe) {
  const auto ignores = [](const std::string& rules) {
    const auto owner =
        ReadMovableOwner(R"({"metadata":{"uid":"2"},"spec":{"podFailurePolicy":)" + rules + "}}");
    EXPECT_TRUE(owner) << rules;
    return owner && owner->uid == "2" && owner->ignores_disruption;
  };
  const std::string ignore =
      R"({"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]})";
  const std::string fail =
      R"({"action":"FailJob","onExitCodes":{"operator":"NotIn","values":[0]}})";
  EXPECT_TRUE(ignores(R"({"rules":[)" + ignore + "]}"));
  EXPECT_TRUE(ignores(R"({"rules":[)" + ignore + "," + fail + "]}"));
  EXPECT_FALSE(ignores(R"({"rules":[)" + fail + "," + ignore + "]}"));
  EXPECT_FALSE(ignores(R"({"rules":[]})"));
  EXPECT_FALSE(ignores("{}"));
  EXPECT_FALSE(ignores(
      R"({"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget","status":"False"}]}]})"));
  EXPECT_FALSE(
      ignores(R"({"rules":[{"action":"Count","onPodConditions":[{"type":"DisruptionTarget"}]}]})"));
  EXPECT_FALSE(ReadMovableOwner("[]"));
  EXPECT_FALSE(ReadMovableOwner(R"({"metadata":{},"spec":{}})")->ignores_disruption);
  EXPECT_TRUE(ReadMovableOwner(R"({"spec":{"suspend":true}})")->ends);
}

TEST(MovesWireTest, TheRecordReadsAsItWasWritten) {
  PublishedMoves moves{.resource_version = "12"};
  MoveRecord record{.owner = "2",
                    .job = "team/train",
                    .workload = "team/w",
                    .waiter = "team/big 3",
                    .kind = "v100x4",
                    .pods = {"p1", "p2"},
                    .nodes = {"n", "n"},
                    .at = WallTime(std::chrono::hours(5)),
                    .rate = 2.5,
                    .phase = MovePhase::kEnded,
                    .compared = true};
  moves.moves = {record, {.owner = "4"}};
  moves.worse = {{"team/w", "v100x4"}};
  std::string text = WriteMovesPatch(moves);
  EXPECT_EQ(*ReadMoves(text), moves);
  moves.resource_version.clear();
  EXPECT_EQ(*ReadMoves(WriteNewMoves(moves)), moves);
}

TEST(MovesWireTest, ARecordThatCannotBeReadIsAnError) {
  for (const char* text : {"[", R"({"data":{}})", R"({"data":{"moves.json":"{"}})",
                           R"({"data":{"moves.json":"{\"moves\":[{\"phase\":\"Unknown\"}]}"}})"}) {
    EXPECT_FALSE(ReadMoves(text)) << text;
  }
  PublishedMoves many;
  many.moves.resize(PublishedMoves::kMost + 1);
  EXPECT_FALSE(ReadMoves(WriteNewMoves(many)));
}

}  // namespace
}  // namespace synergy::wire
