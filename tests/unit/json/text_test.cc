#include "json/text.h"

#include <string>

#include <gtest/gtest.h>

namespace synergy::json {
namespace {

std::string Repaired(std::string_view text) {
  std::string out;
  AppendRepairedUtf8(out, text);
  return out;
}

TEST(Utf8, IsRecognized) {
  for (const std::string_view text :
       {"", "a", "plain ASCII of more than sixteen bytes", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80",
        "\xED\x9F\xBF", "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsUtf8(text)) << text;
    EXPECT_EQ(Repaired(text), text);
  }
}

TEST(Utf8, IsRepairedByteByByte) {
  for (const std::string_view bad :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xE0\x9F\xBF", "\xE2\x82", "\xED\xA0\x80",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF"}) {
    EXPECT_FALSE(IsUtf8(bad)) << bad;
    std::string expected = "long enough for a block ";
    for (size_t i = 0; i < bad.size(); ++i) expected += "\uFFFD";
    EXPECT_EQ(Repaired("long enough for a block " + std::string(bad) + "é"), expected + "é");
  }
}

TEST(EscapedSurrogates, AreLeftAloneAtTheEndOfTheText) {
  for (std::string text : {"\\", "\\u", "\\ud83", "\\ud83d\\", "\\ud83d\\ude0", "a\\\\"}) {
    std::string expected = text;
    if (text.starts_with("\\ud83d")) expected.replace(2, 4, "fffd");
    RepairEscapedSurrogates(text.data(), text.size());
    EXPECT_EQ(text, expected);
  }
}

TEST(Quoted, CutsLongTextAndStaysUtf8) {
  EXPECT_EQ(Quoted("a\"b"), R"("a\"b")");
  const std::string quoted = Quoted(std::string(59, 'x') + "éééé");
  EXPECT_TRUE(IsUtf8(quoted)) << quoted;
  EXPECT_TRUE(quoted.ends_with("...\"")) << quoted;
}

}  // namespace
}  // namespace synergy::json
