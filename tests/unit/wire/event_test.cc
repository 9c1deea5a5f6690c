#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/objects/objects.h"

namespace synergy::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using PodWatchEvent = WatchEvent<Pod>;

const ObjectReader& EventReader() {
  static const ObjectReader reader("nvidia.com/gpu");
  return reader;
}

PodWatchEvent ReadValidEvent(std::string_view text) {
  Result<PodWatchEvent> event = EventReader().ReadWatchEvent<Pod>(text);
  EXPECT_TRUE(event) << text << ": " << event.error().message;
  return event ? std::move(*event) : PodWatchEvent();
}

TEST(WatchEvents, TooLargeEventHasAReason) {
  std::string labels;
  for (int i = 0; i < 70'000; ++i) labels += R"("a":"x",)";
  const PodWatchEvent event = ReadValidEvent(
      R"({"type":"MODIFIED","object":{"metadata":{"name":"a","namespace":"x","labels":{)" + labels +
      R"("b":"x"},"resourceVersion":"7","uid":"1"},"spec":{"nodeName":"n"}}})");
  EXPECT_EQ(event.name, "pod x/a");
  EXPECT_EQ(event.why_unread, "more than 65536 values");
  EXPECT_EQ(event.resource_version, 7U);
  EXPECT_EQ(event.object.uid, "1");
  EXPECT_EQ(event.object.node, "n");
}

TEST(WatchEvents, CarryAnObjectAndItsVersion) {
  for (const auto& [text, type] :
       std::vector<std::pair<std::string, WatchEventType>>{{"ADDED", WatchEventType::kAdded},
                                                           {"MODIFIED", WatchEventType::kModified},
                                                           {"DELETED", WatchEventType::kDeleted}}) {
    const PodWatchEvent event = ReadValidEvent(
        R"({"type":")" + text +
        R"(","object":{"metadata":{"name":"a","namespace":"x","uid":"1","resourceVersion":"18446744073709551615"}}})"
        "\n");
    EXPECT_EQ(event.type, type);
    EXPECT_EQ(event.object.Key(), "x/a");
    EXPECT_EQ(event.resource_version, 18446744073709551615U);
    EXPECT_THAT(event.problems, IsEmpty());
  }
}

TEST(WatchEvents, BookmarkHasAVersionOnly) {
  const PodWatchEvent event = ReadValidEvent(
      R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":{"resourceVersion":"42","creationTimestamp":null},"spec":{"containers":null}}})");
  EXPECT_EQ(event.type, WatchEventType::kBookmark);
  EXPECT_EQ(event.resource_version, 42U);
  EXPECT_THAT(event.problems, IsEmpty());
}

TEST(WatchEvents, ErrorEventHasItsCode) {
  const std::vector<std::pair<std::string, ErrorCode>> cases = {
      {"410", ErrorCode::kGone},        {"401", ErrorCode::kDenied},
      {"403", ErrorCode::kDenied},      {"404", ErrorCode::kNotFound},
      {"409", ErrorCode::kConflict},    {"429", ErrorCode::kOverloaded},
      {"500", ErrorCode::kUnavailable}, {"504", ErrorCode::kTimeout},
      {"400", ErrorCode::kInvalid},
  };
  for (const auto& [code, expected] : cases) {
    const PodWatchEvent event = ReadValidEvent(
        R"({"type":"ERROR","object":{"kind":"Status","message":"why","code":)" + code + "}}");
    EXPECT_EQ(event.type, WatchEventType::kError);
    EXPECT_EQ(event.error.code, expected) << code;
    EXPECT_EQ(event.error.message, "why");
  }
  const PodWatchEvent odd = ReadValidEvent(R"({"type":"ERROR","object":{}})");
  EXPECT_EQ(odd.error.code, ErrorCode::kUnavailable);
  EXPECT_FALSE(odd.error.message.empty());
}

TEST(WatchEvents, DeliverAnObjectWithABadField) {
  const PodWatchEvent event = ReadValidEvent(
      R"({"type":"MODIFIED","object":{"metadata":{"name":"a","uid":"1","resourceVersion":"x1"},"spec":{"priority":[]}}})");
  EXPECT_EQ(event.object.name, "a");
  EXPECT_EQ(event.resource_version, 0U);
  EXPECT_THAT(event.problems,
              ElementsAre(R"(pod a: metadata.resourceVersion: "x1" is not a number)",
                          "pod a: spec.priority: must be a whole number, not an array"));
}

TEST(WatchEvents, RefuseOtherText) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"type":"ADDED","object":)", "not JSON at byte 25: Invalid value."},
      {R"({"object":{}})", R"("" is not a type of watch event)"},
      {R"({"type":"CHANGED","object":{}})", R"("CHANGED" is not a type of watch event)"},
      {R"({"type":5,"object":{}})", "type: must be a string, not a number"},
      {R"({"type":"ADDED"})", "object: is missing"},
      {R"({"type":"ADDED","object":[]})", "object: must be an object, not an array"},
  };
  for (const auto& [text, message] : cases) {
    const Result<PodWatchEvent> event = EventReader().ReadWatchEvent<Pod>(text);
    ASSERT_FALSE(event) << text;
    EXPECT_EQ(event.error().message, message);
    EXPECT_EQ(event.error().code, ErrorCode::kInvalid);
  }
}

TEST(WatchEvents, WorkForNodesAndDisruptionBudgets) {
  const auto node = EventReader().ReadWatchEvent<Node>(
      R"({"type":"ADDED","object":{"metadata":{"name":"n","resourceVersion":"7"},"status":{"allocatable":{"cpu":"2"}}}})");
  ASSERT_TRUE(node);
  EXPECT_EQ(node->object.allocatable.main.cpu, Cores(2));
  EXPECT_EQ(node->resource_version, 7U);
  EXPECT_THAT(node->problems, IsEmpty());
  const auto budget = EventReader().ReadWatchEvent<DisruptionBudget>(
      R"({"type":"DELETED","object":{"metadata":{"name":"b","namespace":"x","uid":"u","resourceVersion":"8"}}})");
  ASSERT_TRUE(budget);
  EXPECT_EQ(budget->object.uid, "u");
  EXPECT_EQ(budget->type, WatchEventType::kDeleted);
}

}  // namespace
}  // namespace synergy::wire
