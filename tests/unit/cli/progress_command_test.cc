#include "cli/commands/progress_command.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <zlib.h>

namespace synergy::cli {
namespace {

constexpr std::string_view kLog =
    "2026-11-22T07:05:01Z stdout F iter 100: loss 3.2500, time 250.00ms, mfu 17.21%\n"
    "2026-11-22T07:05:06Z stdout F iter 110: loss 3.0000, time 250.00ms, mfu 17.21%\n";
constexpr const char* kYaml =
    "format: nanogpt\niteration: 110\ntotal: null\nepoch: null\nrate: 2\noverallRate: 2\nloss: 3\n";

std::string YamlOf(const TrainingProgress& progress) {
  return ToYaml(ShowProgress(progress).objects.at(0).tree);
}

std::string TextOf(const TrainingProgress& progress) { return ToText(ShowProgress(progress)); }

class ProgressCommandTest : public ::testing::Test {
 protected:
  ProgressCommandTest() : file_(::testing::TempDir() + "progress_command_test.log") {}
  ~ProgressCommandTest() override { std::filesystem::remove(file_); }

  void Write(std::string_view text) { std::ofstream(file_, std::ios::binary) << text; }

  const std::string file_;
};

TEST_F(ProgressCommandTest, PrintsTheProgressInALog) {
  Write(kLog);
  const Result<TrainingProgress> progress = ReadProgress({.file = file_});
  ASSERT_TRUE(progress);
  EXPECT_EQ(YamlOf(*progress), kYaml);
  EXPECT_NE(TextOf(*progress).find("iteration     110\n"), std::string::npos);
  EXPECT_NE(TextOf(*progress).find("rate          2 iterations/s"), std::string::npos);
}

TEST_F(ProgressCommandTest, NothingRecognisedIsNoFailure) {
  Write("hello\n");
  const Result<TrainingProgress> progress = ReadProgress({.file = file_});
  ASSERT_TRUE(progress);
  EXPECT_EQ(YamlOf(*progress),
            "format: null\niteration: null\ntotal: null\nepoch: null\nrate: null\n"
            "overallRate: null\nloss: null\n");
  EXPECT_NE(TextOf(*progress).find("--pattern"), std::string::npos);
}

TEST_F(ProgressCommandTest, ReadsWhatTheKubeletCompressed) {
  const gzFile out = gzopen(file_.c_str(), "wb");
  gzwrite(out, kLog.data(), static_cast<unsigned>(kLog.size()));
  gzclose(out);
  const Result<TrainingProgress> progress = ReadProgress({.file = file_});
  ASSERT_TRUE(progress);
  EXPECT_EQ(YamlOf(*progress), kYaml);
}

TEST_F(ProgressCommandTest, TakesAPatternOfTheUsersOwn) {
  Write("batch 7 of 9\n");
  const Result<TrainingProgress> progress =
      ReadProgress({.file = file_, .pattern = R"(batch (?P<iteration>\d+) of (?P<total>\d+))"});
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->format, "pattern");
  EXPECT_EQ(progress->iteration, 7);
  EXPECT_EQ(progress->total, 9);
}

TEST_F(ProgressCommandTest, NamesTheCureOfAMistake) {
  const Result<TrainingProgress> missing = ReadProgress({.file = file_});
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
  const Result<TrainingProgress> folder = ReadProgress({.file = ::testing::TempDir()});
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("Is a directory"), std::string::npos);
  const Result<TrainingProgress> wrong = ReadProgress({.file = file_, .pattern = "batch (\\d+)"});
  EXPECT_EQ(wrong.error().code, ErrorCode::kInvalid);
  EXPECT_NE(wrong.error().message.find("(?P<iteration>"), std::string::npos);
}

}  // namespace
}  // namespace synergy::cli
