#include "json/list_reader.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/writer.h"

namespace synergy::json {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Seen {
  std::vector<std::string> items;
  std::string rest;
  std::string error;
};

Seen Read(std::string text, const ReadRules& rules = {}) {
  Seen seen;
  const Result<Document> document =
      ListReader::Read(std::move(text), "items", rules, [&seen](Value item, bool cut) {
        AppendValue(seen.items.emplace_back(cut ? "cut " : ""), item);
      });
  if (!document) {
    seen.error = document.error().message;
  } else {
    AppendValue(seen.rest, document->root());
  }
  return seen;
}

TEST(ListReaderTest, GivesTheElementsOneByOneAndThenTheRest) {
  for (const std::string_view text :
       {R"({"a":1,"items":[{"b":"x\"y"},[2],"three",null],"c":{"d":[4]}})",
        R"( { "a" : 1 , "items" : [ {"b":"x\"y"} , [2] , "three" , null ] , "c" : {"d":[4]} } )"}) {
    const Seen seen = Read(std::string(text));
    EXPECT_EQ(seen.error, "");
    EXPECT_THAT(seen.items, ElementsAre(R"({"b":"x\"y"})", "[2]", R"("three")", "null"));
    EXPECT_EQ(seen.rest, R"({"a":1,"":null,"c":{"d":[4]}})");
  }
}

TEST(ListReaderTest, WithoutAListThereIsOnlyTheRest) {
  for (const std::string_view text :
       {"{}", R"({"a":[1]})", R"({"items":null})", R"({"items":{}})", "[1]", "2"}) {
    const Seen seen = Read(std::string(text));
    EXPECT_THAT(seen.items, IsEmpty());
    EXPECT_EQ(seen.rest, text);
  }
  EXPECT_THAT(Read(R"({"items":[]})").items, IsEmpty());
}

TEST(ListReaderTest, ReadsTextAsDocumentsDo) {
  EXPECT_THAT(Read("{\"items\":[\"\xFF\",\"\\ud83d\"]}").items,
              ElementsAre("\"\uFFFD\"", "\"\uFFFD\""));
}

TEST(ListReaderTest, RefusesTextThatIsNotJson) {
  for (const std::string_view text :
       {"", "{", "{]", R"({"items":[)", R"({"items":[1)", R"({"items":[1,]})", R"({"items":[1 2]})",
        R"({"items":[,]})", R"({"items":[{]}]})", R"({"items":[1]}x)", R"({"items":[1],})",
        R"({"a":tru,"items":[1]})", R"({"a" 1})", R"({"items":["a)", R"({"items":[{"a":1})"}) {
    EXPECT_THAT(Read(std::string(text)).error, HasSubstr("not JSON")) << text;
  }
  EXPECT_THAT(Read(R"({"items":[{"a":1},{"a":x}]})").error, HasSubstr("not JSON at byte 23"));
}

TEST(ListReaderTest, TheRulesHoldForEachElement) {
  constexpr std::string_view kVital[] = {"spec"};
  const Seen seen = Read(
      R"({"items":[{"name":"a"},{"name":"b","junk":[1,2,3,4,5],"spec":{"node":"n","more":[6]}},{"name":"c"}]})",
      {.most_values = 6, .vital = kVital});
  EXPECT_EQ(seen.error, "");
  EXPECT_THAT(seen.items, ElementsAre(R"({"name":"a"})",
                                      R"(cut {"name":"b","junk":[],"spec":{"node":"n","more":[]}})",
                                      R"({"name":"c"})"));
}

TEST(ListReaderTest, DeepElementsDoNoHarmToOthers) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const Seen seen = Read(R"({"items":[{"a":)" + deep + R"(,"b":1},{"c":2}]})");
  EXPECT_EQ(seen.error, "");
  ASSERT_EQ(seen.items.size(), 2);
  EXPECT_THAT(seen.items[0], HasSubstr(R"(,"b":1})"));
  EXPECT_EQ(seen.items[1], R"({"c":2})");
}

}  // namespace
}  // namespace synergy::json
