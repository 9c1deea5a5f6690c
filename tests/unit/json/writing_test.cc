#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "json/document.h"
#include "json/text.h"

namespace synergy::json {
namespace {

std::string Written(std::string_view text) {
  std::string out = "before";
  AppendJsonString(out, text);
  EXPECT_TRUE(out.starts_with("before"));
  return out.substr(6);
}

TEST(AppendJsonString, EscapesWhatJsonDemands) {
  EXPECT_EQ(Written(""), R"("")");
  EXPECT_EQ(Written("plain"), R"("plain")");
  EXPECT_EQ(Written("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(Written("line\nbreak\ttab\x01\x1f"), R"("line\u000abreak\u0009tab\u0001\u001f")");
  EXPECT_EQ(Written(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(Written("é€😀\x7f"), "\"é€😀\x7f\"");
}

TEST(AppendJsonString, ReplacesMalformedUtf8AndLeavesWhatStoodBefore) {
  EXPECT_EQ(Written("a\xFF\"\xC2"), "\"a\uFFFD\\\"\uFFFD\"");
  std::string out = "\xFF";
  AppendJsonString(out, "\xFE");
  EXPECT_EQ(out, "\xFF\"\uFFFD\"");
}

TEST(AppendJsonString, IsReadBackUnchanged) {
  std::string all;
  for (int c = 0; c < 128; ++c) all += static_cast<char>(c);
  const std::string text = Written(all);
  const Result<Document> document = Document::Parse(text);
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(document->root().text(), all);
}

}  // namespace
}  // namespace synergy::json
