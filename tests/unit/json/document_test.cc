#include "json/document.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace synergy::json {
namespace {

using ::testing::HasSubstr;

Document Parsed(std::string_view text) {
  Result<Document> document = Document::Parse(text);
  EXPECT_TRUE(document) << text << ": " << document.error().message;
  return document ? std::move(*document) : Document();
}

std::string Refusal(std::string_view text) {
  const Result<Document> document = Document::Parse(text);
  EXPECT_FALSE(document) << "accepted";
  return document ? std::string() : document.error().message;
}

std::string Repeat(std::string_view text, int times) {
  std::string repeated;
  for (int i = 0; i < times; ++i) repeated += text;
  return repeated;
}

TEST(Document, GivesValuesOfEveryKind) {
  const Document document = Parsed(
      R"({"n":null,"t":true,"f":false,"i":-12,"d":1.50e+3,"s":"a\tb","a":[1,[2],{}],"o":{}})");
  const Value root = document.root();
  EXPECT_TRUE(root.IsObject());
  EXPECT_TRUE(root["n"].absent());
  EXPECT_FALSE(root["n"].missing());
  EXPECT_TRUE(root["t"].truth());
  EXPECT_FALSE(root["f"].truth());
  EXPECT_TRUE(root["f"].IsBool());
  EXPECT_EQ(root["i"].text(), "-12");
  EXPECT_EQ(root["d"].text(), "1.50e+3");
  EXPECT_TRUE(root["d"].IsNumber());
  EXPECT_EQ(root["s"].text(), "a\tb");
  EXPECT_TRUE(root["o"].IsObject());
  EXPECT_TRUE(root["missing"].missing());
  int elements = 0;
  root["a"].ForEachElement([&elements](Value) { ++elements; });
  EXPECT_EQ(elements, 3);
}

TEST(Document, GoesOnSilentlyWhereThereIsNothing) {
  const Document document = Parsed(R"({"a":1})");
  const Value nothing = document.root()["b"]["c"]["d"];
  EXPECT_TRUE(nothing.missing());
  EXPECT_TRUE(nothing.text().empty());
  nothing.ForEachMember([](std::string_view, Value) { FAIL(); });
  nothing.ForEachElement([](Value) { FAIL(); });
  document.root()["a"].ForEachElement([](Value) { FAIL(); });
}

TEST(Document, StaysValidWhenItIsMoved) {
  Document document = Parsed(R"(["a","b"])");
  const Document moved = std::move(document);
  std::vector<std::string> texts;
  moved.root().ForEachElement([&](Value value) { texts.emplace_back(value.text()); });
  EXPECT_THAT(texts, testing::ElementsAre("a", "b"));
}

TEST(Document, LetsTheLastOfEqualKeysCount) {
  const Document document = Parsed(R"({"a":{"x":1},"a":{"y":2}})");
  EXPECT_TRUE(document.root()["a"]["x"].missing());
  EXPECT_EQ(document.root()["a"]["y"].text(), "2");
}

TEST(Document, ErrorHasTheOffsetOfInvalidJson) {
  EXPECT_THAT(Refusal(R"({"a":1,})"), HasSubstr("not JSON at byte 7"));
  for (const std::string_view text :
       {"",       " ",       "{",         "[1",  "[1,]", "{\"a\"}", "{a:1}",
        "nul",    "01",      "1.",        "-",   "\"a",  "[1] 2",   "'a'",
        "\"\n\"", "\"\\x\"", "\"\\u12\"", "[1}", "+1",   "NaN",     "// a\n1"}) {
    EXPECT_THAT(Refusal(text), HasSubstr("not JSON at byte")) << text;
  }
}

TEST(Document, EndsAtItsLastByteAndNotAtANul) {
  EXPECT_THAT(Refusal(std::string_view("{}\0{}", 5)), HasSubstr("byte 2: a NUL"));
  EXPECT_THAT(Refusal(std::string_view("[\0]", 3)), HasSubstr("not JSON"));
  EXPECT_EQ(Parsed(R"("a\u0000b")").root().text(), std::string_view("a\0b", 3));
}

int LevelsOf(const Document& document) {
  int levels = 0;
  for (Value at = document.root(); !at.missing(); ++levels) {
    Value next;
    at.ForEachElement([&next](Value element) { next = element; });
    at = next.missing() ? at["a"] : next;
  }
  return levels;
}

TEST(Document, ReadsSixtyFourLevelsAndPassesOverWhatIsBelow) {
  EXPECT_EQ(LevelsOf(Parsed(Repeat("[", 64) + Repeat("]", 64))), 64);
  for (const int depth : {65, 66, 129, 100'000}) {
    EXPECT_EQ(LevelsOf(Parsed(Repeat("[", depth) + Repeat("]", depth))), 65) << depth;
    EXPECT_EQ(LevelsOf(Parsed(Repeat(R"({"a":)", depth) + "1" + Repeat("}", depth))), 65) << depth;
  }
  const Document document = Parsed(R"({"x":)" + Repeat(R"({"a":)", 70) + R"("}]")" +
                                   Repeat("}", 70) + R"(,"y":[1,{"z":2}]})");
  EXPECT_EQ(LevelsOf(document), 1);
  int elements = 0;
  document.root()["y"].ForEachElement([&elements](Value) { ++elements; });
  EXPECT_EQ(elements, 2);
}

TEST(Document, DeepNestingHasToEnd) {
  EXPECT_THAT(Refusal(Repeat("[", 100'000)), HasSubstr("not JSON"));
  EXPECT_THAT(Refusal(Repeat(R"({"a":)", 100'000)), HasSubstr("not JSON"));
  EXPECT_THAT(Refusal(Repeat("[", 70) + Repeat("]", 69)), HasSubstr("not JSON"));
  EXPECT_THAT(Refusal(Repeat("[", 70) + "\"" + Repeat("]", 70)), HasSubstr("not JSON"));
  EXPECT_THAT(Refusal(Repeat("[", 70) + "}" + Repeat("]", 69)), HasSubstr("not JSON"));
}

TEST(Document, ReadsOnlySelectedMembers) {
  constexpr ReadRules::OnlyMember kOnly[] = {{"fields", "kept"}};
  const Result<Document> document = Document::Parse(
      R"({"fields":{"dropped":{"a":{"b":1}},"kept":{"a":1},"scalar":2},"dropped":{"a":3}})",
      {.only = kOnly});
  ASSERT_TRUE(document);
  const Value root = document->root();
  EXPECT_TRUE(root["fields"]["dropped"].IsObject());
  EXPECT_TRUE(root["fields"]["dropped"]["a"].missing());
  EXPECT_EQ(root["fields"]["kept"]["a"].text(), "1");
  EXPECT_EQ(root["fields"]["scalar"].text(), "2");
  EXPECT_EQ(root["dropped"]["a"].text(), "3");
  EXPECT_FALSE(document->cut());
}

// Wherever the limit is, the essential part is read, and each key has its value.
TEST(Document, ReadsVitalMembersOfATooLargeObject) {
  constexpr std::string_view kVital[] = {"spec", "list", "amounts"};
  const std::string text =
      R"({"junk":{"a":[1,2,3],"b":{"c":4}},"spec":{"junk":[[5,6],{"d":7}],"node":"n",)"
      R"("list":[{"name":"x","amounts":{"cpu":"1"},"junk":{"e":[8]}},{"amounts":{"cpu":"2"}}],)"
      R"("last":"l"},"phase":"Running"})";
  for (size_t most = 1; most < 60; ++most) {
    const Result<Document> document = Document::Parse(text, {.most_values = most, .vital = kVital});
    ASSERT_TRUE(document) << most << ": " << document.error().message;
    const Value root = document->root();
    EXPECT_EQ(document->cut(), most < 47) << most;
    EXPECT_EQ(root["phase"].text(), "Running") << most;
    EXPECT_EQ(root["spec"]["node"].text(), "n") << most;
    EXPECT_EQ(root["spec"]["last"].text(), "l") << most;
    std::string amounts;
    root["spec"]["list"].ForEachElement(
        [&](Value element) { amounts += element["amounts"]["cpu"].text(); });
    EXPECT_EQ(amounts, "12") << most;
  }
}

TEST(Document, BeyondTheLastLimitTheRestIsPassedOver) {
  constexpr std::string_view kVital[] = {"a"};
  const std::string text = R"({"name":"n","a":[[1],[2],{"b":"}"},)" + Repeat("[3],", 100) + "4]}";
  for (size_t most = 4; most < 100; ++most) {
    const Result<Document> document =
        Document::Parse(text, {.most_values = 2, .vital = kVital, .most_vital_values = most});
    ASSERT_TRUE(document) << most;
    EXPECT_TRUE(document->cut());
    EXPECT_EQ(document->root()["name"].text(), "n");
  }
}

TEST(Document, ReplacesMalformedUtf8) {
  EXPECT_EQ(Parsed("\"a\xFF\"").root().text(), "a\uFFFD");
  EXPECT_EQ(Parsed("{\"k\xC0\xAF\":1}").root()["k\uFFFD\uFFFD"].text(), "1");
  EXPECT_EQ(Parsed("\"\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\"").root().text(), "é € 😀");
}

TEST(Document, ReplacesHalfASurrogatePair) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("\ud83d\ude00")", "😀"},
      {R"("\ud83d")", "\uFFFD"},
      {R"("\ude00")", "\uFFFD"},
      {R"("\ud83dx")", "\uFFFDx"},
      {R"("\ud83d\n")", "\uFFFD\n"},
      {R"("\ud83d\u0041")",
       "\uFFFD"
       "A"},
      {R"("\ud83d\ud83d\ude00")", "\uFFFD😀"},
      {R"("\\ud83d")", "\\ud83d"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_EQ(Parsed(text).root().text(), expected) << text;
}

TEST(Document, DescribesTheWayToAValue) {
  const Document document = Parsed(R"({"a":[0,{"b/c":{"d":1}}],"":2})");
  const Value root = document.root();
  EXPECT_EQ(root.PathTo(root), "");
  EXPECT_EQ(root.PathTo(root["a"]), "a");
  Value second;
  root["a"].ForEachElement([&second](Value element) { second = element; });
  EXPECT_EQ(root.PathTo(second), "a[1]");
  EXPECT_EQ(root.PathTo(second["b/c"]["d"]), R"(a[1]["b/c"].d)");
  EXPECT_EQ(root.PathTo(root[""]), R"([""])");
  EXPECT_EQ(second.PathTo(second["b/c"]), R"(["b/c"])");
}

}  // namespace
}  // namespace synergy::json
