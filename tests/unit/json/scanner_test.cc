#include "json/scanner.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace synergy::json {
namespace {

std::string Nested(int depth) {
  return std::string(static_cast<size_t>(depth), '[') +
         std::string(static_cast<size_t>(depth), ']');
}

TEST(ScannerTest, PassesOverWhiteSpaceOnly) {
  Scanner scanner(" \t\r\n,x");
  EXPECT_EQ(scanner.Peek(), ',');
  EXPECT_EQ(scanner.position(), 4U);
  EXPECT_FALSE(scanner.Take(':'));
  EXPECT_TRUE(scanner.Take(','));
  EXPECT_EQ(scanner.Peek(), 'x');
}

TEST(ScannerTest, TakesNothingAtTheEnd) {
  Scanner scanner("  ");
  EXPECT_EQ(scanner.Peek(), '\0');
  EXPECT_FALSE(scanner.Take('\0'));
  bool plain = false;
  EXPECT_EQ(scanner.TakeString(plain), "");
  EXPECT_EQ(scanner.TakeValue(), "");
}

TEST(ScannerTest, GivesStringsAsTheyAreSpelled) {
  Scanner scanner(R"( "node-1" "a\"b" "" )");
  bool plain = false;
  EXPECT_EQ(scanner.TakeString(plain), R"("node-1")");
  EXPECT_TRUE(plain);
  EXPECT_EQ(scanner.TakeString(plain), R"("a\"b")");
  EXPECT_FALSE(plain);
  EXPECT_EQ(scanner.TakeString(plain), R"("")");
  EXPECT_TRUE(plain);
}

TEST(ScannerTest, AStringWithAControlCharacterIsNotPlain) {
  Scanner scanner("\"a\tb\"");
  bool plain = true;
  EXPECT_EQ(scanner.TakeString(plain), "\"a\tb\"");
  EXPECT_FALSE(plain);
}

TEST(ScannerTest, AStringThatDoesNotEndIsNone) {
  for (const std::string_view text : {R"(")", R"("abc)", R"("abc\")", R"("abc\)", "abc"}) {
    Scanner scanner(text);
    bool plain = false;
    EXPECT_EQ(scanner.TakeString(plain), "") << text;
  }
}

TEST(ScannerTest, TakesAnyValueWholeAndStopsBehindIt) {
  for (const std::string_view value :
       {"null", "true", "-1.5e3", R"("a,b]}")", "[]", "{}", R"({"a":[1,{"b":"}"}],"c":"\"]"})",
        // This text is longer than the blocks that are compared at a time.
        R"(["0123456789012345678901234567890123456789","]\\"])"}) {
    for (const std::string_view behind : {",", "]", "}", " "}) {
      const std::string text = " " + std::string(value) + std::string(behind);
      Scanner scanner(text);
      EXPECT_EQ(scanner.TakeValue(), value) << text;
      EXPECT_EQ(scanner.position(), 1 + value.size()) << text;
    }
  }
}

TEST(ScannerTest, BracketsThatDoNotMatchAreNoValue) {
  for (const std::string_view text :
       {"[", "{", "[}", "{]", "[[]", R"({"a":[}])", R"(["]")", R"({"a":"}\)"}) {
    EXPECT_EQ(Scanner(text).TakeValue(), "") << text;
  }
}

TEST(ScannerTest, ValuesMayBeNestedHoweverDeep) {
  for (const int depth : {64, 65, 1'000'000}) {
    const std::string nested = Nested(depth);
    EXPECT_EQ(Scanner(nested + ",").TakeValue(), nested);
    EXPECT_EQ(Scanner(std::string_view(nested).substr(1)).TakeValue(),
              nested.substr(1, nested.size() - 2));
    EXPECT_EQ(Scanner(std::string_view(nested).substr(0, nested.size() - 1)).TakeValue(), "");
  }
}

TEST(ScannerTest, FindsWhereBracketsThatAreOpenAreClosed) {
  const std::string_view text = R"("]",[1,{"a":"}"}],2]}])";
  const auto find = [text](size_t depth) {
    return FindClosing(text.data(), text.data() + text.size(), depth) - text.data();
  };
  EXPECT_EQ(find(1), 19);
  EXPECT_EQ(find(2), 20);
  EXPECT_EQ(find(3), 21);
  EXPECT_EQ(find(4), 22);
}

TEST(ScannerTest, GivesTheTextSinceAPosition) {
  Scanner scanner(R"([1,{"a":2},3])");
  scanner.Take('[');
  scanner.TakeValue();
  scanner.Take(',');
  const size_t start = scanner.position();
  scanner.TakeValue();
  EXPECT_EQ(scanner.Text(start), R"({"a":2})");
}

}  // namespace
}  // namespace synergy::json
