#include "core/log.h"

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidjson/document.h>

#include "core/random.h"
#include "support/fake_clock.h"

namespace synergy::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// This sink has no lock, so the thread sanitizer notices if a Logger writes two lines at the same
// time.
class Lines final : public LogSink {
 public:
  void Write(std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

class LogTest : public ::testing::Test {
 protected:
  LogTest() {
    using std::chrono::sys_days;
    clock_.SetWall(sys_days{std::chrono::year{2026} / 3 / 4} + std::chrono::hours(5) +
                   std::chrono::minutes(6) + std::chrono::milliseconds(7089));
  }

  Logger Writing(LogFormat format, LogLevel level = LogLevel::kDebug) {
    return {sink_, clock_, level, format};
  }
  std::string Only() const {
    return sink_.lines.size() == 1 ? sink_.lines.front() : "not exactly one line";
  }

  FakeClock clock_;
  Lines sink_;
};

// Parses the line with an independent parser, which also checks UTF-8.
rapidjson::Document Parsed(std::string_view line) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag>(line.data(), line.size());
  return document;
}

TEST_F(LogTest, ATextLineHasTimeLevelMessageAndFields) {
  Writing(LogFormat::kText).Info("pod bound", {{"pod", "team/a"}, {"gpus", 8}, {"whole", true}});
  EXPECT_EQ(
      Only(),
      "time=2026-03-04T05:06:07.089Z level=info msg=\"pod bound\" pod=team/a gpus=8 whole=true\n");
}

TEST_F(LogTest, AJsonLineHasTheSameAsOneObject) {
  Writing(LogFormat::kJson)
      .Warn("pod bound", {{"pod", "team/a"}, {"gpus", 8}, {"part", 0.25}, {"whole", false}});
  EXPECT_EQ(Only(),
            "{\"time\":\"2026-03-04T05:06:07.089Z\",\"level\":\"warn\",\"msg\":\"pod "
            "bound\",\"pod\":\"team/a\","
            "\"gpus\":8,\"part\":0.25,\"whole\":false}\n");
}

TEST_F(LogTest, LinesBelowTheLevelAreNotWritten) {
  Logger log = Writing(LogFormat::kText, LogLevel::kWarn);
  log.Debug("a");
  log.Info("b");
  EXPECT_THAT(sink_.lines, IsEmpty());
  EXPECT_FALSE(log.Enabled(LogLevel::kInfo));
  EXPECT_TRUE(log.Enabled(LogLevel::kWarn));
  log.Warn("c");
  log.Error("d");
  EXPECT_THAT(sink_.lines,
              ElementsAre(HasSubstr("level=warn msg=\"c\""), HasSubstr("level=error msg=\"d\"")));
}

TEST_F(LogTest, InTextOnlyWordsThatNeedQuotesGetThem) {
  Writing(LogFormat::kText)
      .Info("m", {{"empty", ""},
                  {"word", "n-1.example:80"},
                  {"space", "a b"},
                  {"equals", "a=b"},
                  {"quote", "a\"b"},
                  {"backslash", "a\\b"},
                  {"umlaut", "\u00fc"}});
  EXPECT_THAT(
      Only(),
      HasSubstr("empty=\"\" word=n-1.example:80 space=\"a b\" equals=\"a=b\" quote=\"a\\\"b\" "
                "backslash=\"a\\\\b\" umlaut=\"\u00fc\"\n"));
}

TEST_F(LogTest, NoValueBreaksTheLine) {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    sink_.lines.clear();
    Writing(format).Error("first\nlevel=info msg=forged",
                          {{"reason", std::string("tab\t nul\0 return\r", 17)}});
    EXPECT_EQ(Only().find('\n'), Only().size() - 1);
    EXPECT_THAT(Only(), HasSubstr("first\\u000alevel=info"));
    EXPECT_THAT(Only(), HasSubstr("tab\\u0009 nul\\u0000 return\\u000d"));
  }
}

TEST_F(LogTest, TextOutsideAsciiIsKept) {
  Writing(LogFormat::kJson).Info("\u00fc\u20ac\U0001F680");
  EXPECT_STREQ(Parsed(Only())["msg"].GetString(), "\u00fc\u20ac\U0001F680");
}

TEST_F(LogTest, ReplacesInvalidUtf8ByteByByte) {
  const struct {
    std::string_view what;
    std::string bytes;
    std::string read;
  } cases[] = {
      {"a stray continuation byte", "a\x80z", "a\ufffdz"},
      {"a character cut short at the end", "a\xe2\x82", "a\ufffd\ufffd"},
      {"a character cut short by another one", "\xe2\x82z", "\ufffd\ufffdz"},
      {"an overlong slash", "\xc0\xaf", "\ufffd\ufffd"},
      {"an overlong three-byte form", "\xe0\x80\xaf", "\ufffd\ufffd\ufffd"},
      {"half of a surrogate pair", "\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
      {"more than the last code point", "\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd"},
      {"a byte that never occurs", "\xff", "\ufffd"},
      {"the largest and the least of each length",
       "\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff",
       "\u0080\u07ff\u0800\ud7ff\ue000\uffff\U00010000\U0010ffff"},
  };
  for (const auto& [what, bytes, read] : cases) {
    sink_.lines.clear();
    Writing(LogFormat::kJson).Info(bytes);
    const rapidjson::Document line = Parsed(Only());
    ASSERT_FALSE(line.HasParseError()) << what;
    EXPECT_EQ(std::string(line["msg"].GetString()), read) << what;
  }
}

TEST_F(LogTest, RandomBytesStillGiveValidJson) {
  Random random(23);
  Logger log = Writing(LogFormat::kJson);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random.Below(12), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.Below(256));
    sink_.lines.clear();
    log.Info(bytes, {{bytes, bytes}});
    ASSERT_FALSE(Parsed(Only()).HasParseError()) << Only();
  }
}

TEST_F(LogTest, NumbersAreWrittenInFull) {
  Writing(LogFormat::kJson)
      .Info("m", {{"least", std::numeric_limits<int64_t>::min()},
                  {"most", std::numeric_limits<uint64_t>::max()},
                  {"small", 1.5e-9},
                  {"large", 1e300}});
  const rapidjson::Document line = Parsed(Only());
  EXPECT_EQ(line["least"].GetInt64(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(line["most"].GetUint64(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(line["small"].GetDouble(), 1.5e-9);
  EXPECT_EQ(line["large"].GetDouble(), 1e300);
}

TEST_F(LogTest, WritesNumbersThatJsonLacksAsStrings) {
  const double infinity = std::numeric_limits<double>::infinity();
  Writing(LogFormat::kJson)
      .Info("m", {{"up", infinity}, {"down", -infinity}, {"none", infinity - infinity}});
  const rapidjson::Document line = Parsed(Only());
  ASSERT_FALSE(line.HasParseError()) << Only();
  EXPECT_STREQ(line["up"].GetString(), "inf");
  EXPECT_STREQ(line["down"].GetString(), "-inf");
  EXPECT_TRUE(line["none"].IsString());
}

TEST_F(LogTest, LinesOfManyThreadsNeverMix) {
  Logger log = Writing(LogFormat::kText);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&log] {
        for (int i = 0; i < 100; ++i) log.Info("busy", {{"what", std::string(200, 'x')}});
      });
    }
  }
  ASSERT_EQ(sink_.lines.size(), 400U);
  for (const std::string& line : sink_.lines) EXPECT_EQ(line, sink_.lines.front());
}

TEST(LogNamesTest, LevelsAndFormatsAreReadByName) {
  EXPECT_EQ(ParseLogLevel("debug").value(), LogLevel::kDebug);
  EXPECT_EQ(ParseLogLevel("info").value(), LogLevel::kInfo);
  EXPECT_EQ(ParseLogLevel("warn").value(), LogLevel::kWarn);
  EXPECT_EQ(ParseLogLevel("error").value(), LogLevel::kError);
  EXPECT_EQ(ParseLogFormat("text").value(), LogFormat::kText);
  EXPECT_EQ(ParseLogFormat("json").value(), LogFormat::kJson);
}

TEST(LogNamesTest, AnUnknownNameIsRefusedWithTheKnownOnes) {
  EXPECT_EQ(ParseLogLevel("loud").error().message,
            "unknown log level \"loud\": use debug, info, warn or error");
  EXPECT_EQ(ParseLogFormat("").error().message, "unknown log format \"\": use text or json");
}

}  // namespace
}  // namespace synergy::testing
