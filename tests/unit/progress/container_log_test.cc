#include "progress/container_log.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/wall_time.h"

namespace synergy {
namespace {

using ::testing::ElementsAre;

// Returns each line, with the seconds and the fraction of its time, or "-".
std::vector<std::string> Lines(std::string_view bytes, size_t piece = 1000) {
  std::vector<std::string> lines;
  const auto keep = [&lines](std::string_view text, std::optional<WallTime> time) {
    const std::string at = time ? ToTimeText(*time).substr(17, 6) : "-";
    lines.push_back(at + " " + std::string(text));
  };
  ContainerLog log;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) {
    log.Feed(bytes.substr(0, piece), keep);
  }
  log.End(keep);
  return lines;
}

constexpr std::string_view kCri =
    "2026-11-22T07:05:01.250000000Z stdout F first\n"
    "2026-11-22T07:05:02.5Z stderr P one \n"
    "2026-11-22T07:05:03Z stdout F between\n"
    "2026-11-22T07:05:04+00:00 stderr F line\n"
    "2026-11-22T07:05:05Z stdout F \n"
    "not a line of the kubelet's\n"
    "2026-11-22T07:05:06Z stdout F last";

TEST(ContainerLog, JoinsPartsOfALineByStream) {
  EXPECT_THAT(Lines(kCri),
              ElementsAre("01.250 first", "03.000 between", "04.000 one line", "06.000 last"));
}

TEST(ContainerLog, ReadsTheSameInPiecesOfAnySize) {
  for (size_t piece = 1; piece < kCri.size(); ++piece) {
    EXPECT_EQ(Lines(kCri, piece), Lines(kCri)) << piece;
  }
}

TEST(ContainerLog, ABarsUpdatesAreLinesWithTheTimeTheyWereWritten) {
  EXPECT_THAT(Lines("2026-11-22T07:05:01Z stderr P \r 1/3\r 2/3\n"
                    "2026-11-22T07:05:09Z stderr F \r 3/3\n"),
              ElementsAre("01.000  1/3", "01.000  2/3", "09.000  3/3"));
}

TEST(ContainerLog, TakesWhatKubectlAddsTimesTo) {
  EXPECT_THAT(Lines("2026-11-22T07:05:01Z one two three four\n2026-11-22T07:05:02Z\nthree\n"),
              ElementsAre("01.000 one two three four", "- three"));
}

TEST(ContainerLog, TakesPlainTextAndTheTimesOfItsLines) {
  EXPECT_THAT(Lines("\nstart\n[2026-11-22 07:05:03,250] [INFO] step\r\n2026-11-22 07:05:04 - x"),
              ElementsAre("- start", "03.250 [2026-11-22 07:05:03,250] [INFO] step",
                          "04.000 2026-11-22 07:05:04 - x"));
}

TEST(ContainerLog, ReadsTimesBehindPrefixes) {
  EXPECT_THAT(
      Lines(
          "[pod/train-0/main] 2026-11-22T07:05:03.250000000Z a\n[rank0]: 2026-11-22 07:05:04,5 b\n"
          "main-1  | 2026-11-22 07:05:05 c\n(Worker pid=1) [2026-11-22 07:05:06] d\n"
          "resumed from 2026-11-22 07:05:07\n"),
      ElementsAre(
          "03.250 [pod/train-0/main] 2026-11-22T07:05:03.250000000Z a",
          "04.500 [rank0]: 2026-11-22 07:05:04,5 b", "05.000 main-1  | 2026-11-22 07:05:05 c",
          "06.000 (Worker pid=1) [2026-11-22 07:05:06] d", "- resumed from 2026-11-22 07:05:07"));
}

TEST(ContainerLog, ReadsTimesInAnyForm) {
  for (const std::string_view line :
       {"2026-11-22 07:05:04.250 x",
        "[2026/11/22 07:05:04.250] x",
        "11/22/2026 07:05:04.250 - x",
        "11/22/2026 07:05:04.250 AM: x",
        "22.11.2026 07:05:04.250 x",
        "26-11-22 07:05:04.250 - x",
        "2026-11-22,07:05:04.250 | x",
        "[11-22 07:05:04.250][x]",
        "I1122 07:05:04.250 140 x.py:210] x",
        "[07:05:04.250] x",
        "07:05:04,250 - INFO - x",
        "INFO 2026-11-22 07:05:04,250 x",
        "DLL 2026-11-22 07:05:04.250 - x",
        ">[INFO 2026-11-22 07:05:04.250] x",
        "[rank0]:[titan] 2026-11-22 07:05:04,250 - x",
        "[INFO|trainer.py:12] 2026-11-22 07:05:04,250 >> x",
        "node-1: 2026-11-22 07:05:04,250 x",
        "main-1  | [rank0]: x | x",
        R"({"timestamp": "2026-11-22T07:05:04.250Z", "step": 5})",
        R"({"name": "x", "data": {"step": 148, "timestamp": "2026-11-22T07:05:04.250"}})",
        R"(DLLL {"timestamp": "7", "datetime": "2026-11-22 07:05:04.250", "elapsedtime": "6"})",
        R"({"_timestamp": 1795331104.25, "step": 5})",
        R"(time="2026-11-22T07:05:04.250Z" level=info)"}) {
    const bool timed = !line.starts_with("main-1");
    EXPECT_THAT(Lines(line), ElementsAre((timed ? "04.250 " : "- ") + std::string(line)));
  }
  EXPECT_THAT(Lines("\x1b[32m2026-11-22 07:05:04.250\x1b[0m | x"),
              ElementsAre("04.250 2026-11-22 07:05:04.250 | x"));
  for (const std::string_view line :
       {"step 5 at 07:05:04", "00:12<00:15, 35.20it/s", "Epoch 1 | 00:00:12 | loss 0.5", "12/20 x",
        "[2026-13-22 07:05:04] x", "99:99:99 x", R"({"time": "12.5", "step": 5})", "1122 x",
        "[32/11/2026 07:05:04]"}) {
    EXPECT_THAT(Lines(line), ElementsAre("- " + std::string(line)));
  }
}

// The day that a time leaves out changes at midnight.
TEST(ContainerLog, TimesWithoutADayGoOnAtMidnight) {
  for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
           {"[23:59:58] a", "[00:00:03] b"},
           {"2026-12-31 23:59:58 a", "[00:00:03] b"},
           {"I1231 23:59:58.0 1 a", "I0101 00:00:03.0 1 b"},
           {"2026-12-31 23:59:58 a", "[01-01 00:00:03] b"},
           {"[00:00:03] a", "[23:59:58] b"}}) {
    std::vector<WallTime> times;
    ContainerLog log;
    const auto keep = [&](std::string_view, std::optional<WallTime> time) {
      if (time) times.push_back(*time);
    };
    log.Feed(first + "\n" + second + "\n", keep);
    ASSERT_EQ(times.size(), 2U) << first;
    const bool late = first.starts_with("[00");
    EXPECT_EQ(times[1] - times[0], std::chrono::seconds(late ? -5 : 5)) << first;
  }
}

TEST(ContainerLog, LeavesOutColoursAndEndsALineWhereTheCursorMoves) {
  EXPECT_THAT(
      Lines(
          "\x1b[1m 2/188\x1b[0m \x1b]0;title\a\x1b[32m━\x1b[0m\b\b done\x1b[A\x1b[A next\x1b[K\n"),
      ElementsAre("-  2/188 ━ done", "-  next"));
}

TEST(ContainerLog, KeepsTheBeginningOfALongLine) {
  const std::string log = "short\n" + std::string(3 * ContainerLog::kLongest, 'x') + "\nnext\n";
  for (const size_t piece : {size_t{1000}, log.size()}) {
    EXPECT_THAT(Lines(log, piece),
                ElementsAre("- short", "- " + std::string(ContainerLog::kLongest, 'x'), "- next"));
  }
}

}  // namespace
}  // namespace synergy
