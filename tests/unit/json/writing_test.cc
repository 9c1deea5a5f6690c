#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "json/document.h"
#include "json/objects.h"
#include "json/pod_writes.h"

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

TEST(WriteBinding, NamesPodUidAndNode) {
  EXPECT_EQ(WriteBinding("team-a", "job-0", "1234-ab", "node-7"),
            R"({"apiVersion":"v1","kind":"Binding",)"
            R"("metadata":{"namespace":"team-a","name":"job-0","uid":"1234-ab"},)"
            R"("target":{"apiVersion":"v1","kind":"Node","name":"node-7"}})");
}

TEST(WriteBinding, EscapesNames) {
  const Result<Document> document = Document::Parse(WriteBinding("a\"b", "\\", "\n", "\xFF"));
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root()["metadata"]["namespace"].text(), "a\"b");
  EXPECT_EQ(document->root()["target"]["name"].text(), "\uFFFD");
}

TEST(ReadStatus, GivesCodeReasonAndMessage) {
  const std::optional<Status> status = ReadStatus(
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",)"
      R"("message":"pods \"a\" not found","reason":"NotFound","details":{"name":"a"},"code":404})");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 404);
  EXPECT_EQ(status->reason, "NotFound");
  EXPECT_EQ(status->message, "pods \"a\" not found");
}

TEST(ReadStatus, IsNoneForOtherTextAndLenientWithParts) {
  EXPECT_FALSE(ReadStatus(""));
  EXPECT_FALSE(ReadStatus("<html>"));
  EXPECT_FALSE(ReadStatus("[]"));
  EXPECT_FALSE(ReadStatus(R"({"kind":"Pod"})"));
  const std::optional<Status> status = ReadStatus(R"({"kind":"Status","code":"410","reason":5})");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->code, 0);
  EXPECT_EQ(status->reason, "");
}

}  // namespace
}  // namespace synergy::json
