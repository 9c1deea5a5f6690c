#include "nodeagent/progress/log_tail.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;

class LogTailTest : public ::testing::Test {
 protected:
  void Append(const std::string& name, const std::string& text) {
    std::ofstream(folder_.Path(name), std::ios::app) << text;
  }
  void Rename(const std::string& from, const std::string& to) {
    fs::rename(folder_.Path(from), folder_.Path(to));
  }
  // Returns the text that is new in the log.
  std::string Read() {
    std::string all;
    const auto read = tail_.Read([&all](std::string_view text) { all += text; });
    if (!read) return "error: " + read.error().message;
    EXPECT_EQ(*read, all.size());
    return all;
  }
  std::string Lines(char fill, size_t count) {
    std::string lines;
    for (size_t i = 0; i < count; ++i) lines += std::string(99, fill) + "\n";
    return lines;
  }

  testing::TemporaryFolder folder_;
  LogTail tail_{folder_.Path("")};
};

TEST_F(LogTailTest, DeliversWhatIsAppended) {
  Append("0.log", "one\n");
  EXPECT_EQ(Read(), "one\n");
  EXPECT_EQ(Read(), "");
  Append("0.log", "two\nthr");
  EXPECT_EQ(Read(), "two\nthr");
  Append("0.log", "ee\n");
  EXPECT_EQ(Read(), "ee\n");
}

TEST_F(LogTailTest, ReportsAMissingLogAndFindsItLater) {
  EXPECT_NE(Read().find("has no log"), std::string::npos);
  Append("notes.txt", "no log\n");
  Append("x.log", "no log\n");
  EXPECT_NE(Read().find("has no log"), std::string::npos);
  Append("0.log", "one\n");
  EXPECT_EQ(Read(), "one\n");
}

TEST_F(LogTailTest, BeginsWithALineNearTheEnd) {
  Append("0.log", Lines('a', 10000) + "last\n");
  const std::string read = Read();
  EXPECT_TRUE(read.starts_with("aaa"));
  EXPECT_TRUE(read.ends_with("last\n"));
  EXPECT_EQ((read.size() - 5) % 100, 0u);
  EXPECT_LE(read.size(), size_t{256} << 10);
  EXPECT_EQ(tail_.skipped(), 0u);
}

TEST_F(LogTailTest, LosesNothingWhereTheKubeletRotates) {
  Append("0.log", "one\n");
  EXPECT_EQ(Read(), "one\n");
  Append("0.log", "two\n");
  Rename("0.log", "0.log.20260102-030405");
  Append("0.log.20260102-030405", "three\n");  // the runtime still writes to the old file
  Append("0.log", "four\n");
  EXPECT_EQ(Read(), "two\nthree\nfour\n");
  Append("0.log", "five\n");
  EXPECT_EQ(Read(), "five\n");
}

TEST_F(LogTailTest, AMomentWithoutAFileIsNothingSpecial) {
  Append("0.log", "one\n");
  EXPECT_EQ(Read(), "one\n");
  Append("0.log", "two\n");
  Rename("0.log", "0.log.20260102-030405");
  EXPECT_EQ(Read(), "two\n");
  Append("0.log", "three\n");
  EXPECT_EQ(Read(), "three\n");
}

TEST_F(LogTailTest, GoesOnWhereTheRotatedFileIsCompressedAlready) {
  Append("0.log", "one\n");
  EXPECT_EQ(Read(), "one\n");
  fs::remove(folder_.Path("0.log"));
  Append("0.log.20260102-030405.gz", "\x1f\x8b");
  Append("0.log", "two\n");
  EXPECT_EQ(Read(), "two\n");
}

TEST_F(LogTailTest, FollowsAContainerThatStartsAgain) {
  Append("0.log", "one\n");
  EXPECT_EQ(Read(), "one\n");
  Append("0.log", "the end\n");
  Append("1.log", "again\n");
  EXPECT_EQ(Read(), "the end\n");
  EXPECT_EQ(Read(), "again\n");
  fs::remove(folder_.Path("0.log"));
  Append("3.log", "and again\n");
  fs::remove(folder_.Path("1.log"));
  EXPECT_EQ(Read(), "and again\n");
}

TEST_F(LogTailTest, BeginsAnewWhereAFileWasEmptied) {
  Append("0.log", "one\ntwo\n");
  EXPECT_EQ(Read(), "one\ntwo\n");
  fs::resize_file(folder_.Path("0.log"), 0);
  Append("0.log", "three\n");
  EXPECT_EQ(Read(), "three\n");
}

TEST_F(LogTailTest, PassesOverTheMiddleOfAFlood) {
  Append("0.log", "one\n");
  EXPECT_EQ(Read(), "one\n");
  Append("0.log", Lines('b', 50000) + "last\n");
  const std::string read = Read();
  EXPECT_TRUE(read.starts_with("bbb"));
  EXPECT_TRUE(read.ends_with("last\n"));
  EXPECT_EQ((read.size() - 5) % 100, 0u);
  EXPECT_GT(tail_.skipped(), 4000000u);
}

// A pod's owner must not be able to make the agent read other files through its log folder.
TEST_F(LogTailTest, DoesNotFollowSymbolicLinks) {
  Append("secret", "root:x:0\n");
  fs::create_symlink(folder_.Path("secret"), folder_.Path("0.log"));
  EXPECT_EQ(Read(), "error: " + folder_.Path("0.log") + " is a link to " + folder_.Path("secret"));
}

// Docker's logs are such links, to a folder that the agent does not mount.
TEST_F(LogTailTest, ReportsTheTargetOfADanglingLink) {
  fs::create_symlink("/var/lib/docker/containers/1/1-json.log", folder_.Path("0.log"));
  const auto read = tail_.Read([](std::string_view) {});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(read.error().message.ends_with(" to /var/lib/docker/containers/1/1-json.log"));
  // From here on another runtime writes the log.
  fs::remove(folder_.Path("0.log"));
  Append("1.log", "one\n");
  EXPECT_EQ(Read(), "one\n");
}

TEST_F(LogTailTest, HoldsNoFileOpen) {
  Append("0.log", "one\n");
  Read();
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    EXPECT_NE(fs::read_symlink(entry.path(), gone).string(), folder_.Path("0.log"));
  }
}

}  // namespace
}  // namespace synergy::nodeagent
