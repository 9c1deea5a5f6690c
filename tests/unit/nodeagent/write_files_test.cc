#include "nodeagent/guarded/write_files.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const KeptWrite kFirst{"/groups/a b/cpu.max", 12345678901234567890U, "max 100000", "7500 100000"};
const KeptWrite kSecond{"/groups/pod2/cpu.cfs_quota_us", 8, "-1", "5000"};

TEST(WriteRecordsTest, AreReadBackUnchanged) {
  EXPECT_THAT(ParseWriteRecords(FormatWriteRecords(std::vector{kFirst, kSecond})),
              ElementsAre(kFirst, kSecond));
  EXPECT_THAT(ParseWriteRecords(""), IsEmpty());
}

TEST(WriteRecordsTest, LinesThatAreNoneAreLeftOut) {
  const std::string good = FormatWriteRecords(std::vector{kSecond});
  EXPECT_THAT(ParseWriteRecords("\nx\t-1\t5000\t/f\n7\t-1\t5000\n" + good + "8\t-1\t5000\t/cut"),
              ElementsAre(kSecond));
}

class WriteFilesTest : public ::testing::Test {
 protected:
  WriteFilesTest() {
    std::filesystem::create_directories(folder_.Path("groups/pod1"));
    std::ofstream(file_) << "90000\n";
  }

  testing::TemporaryFolder folder_;
  const std::string file_ = folder_.Path("groups/pod1/cpu.cfs_quota_us");
  GroupWriteFiles files_{folder_.Path("groups"), folder_.Path("made/state")};
};

TEST_F(WriteFilesTest, ReadsAndWritesFilesOfAKind) {
  struct stat found{};
  ASSERT_EQ(::stat(folder_.Path("groups/pod1").c_str(), &found), 0);
  EXPECT_EQ(files_.FolderOf(file_), found.st_ino);
  EXPECT_EQ(files_.Read(file_), "90000");
  EXPECT_TRUE(files_.Write(file_, "75000"));
  EXPECT_EQ(files_.Read(file_), "75000");
  const std::string gone = folder_.Path("groups/pod2/cpu.max");
  EXPECT_EQ(files_.FolderOf(gone).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(files_.Read(gone).error().code, ErrorCode::kNotFound);
}

TEST_F(WriteFilesTest, TouchesNoOtherFiles) {
  std::ofstream(folder_.Path("cpu.max")) << "mine\n";
  std::ofstream(folder_.Path("groups/memory.max")) << "mine\n";
  for (const std::string& file :
       {folder_.Path("cpu.max"), folder_.Path("groups/memory.max"),
        folder_.Path("groups/../cpu.max"), folder_.Path("groups/a\nb/cpu.max"),
        std::string("cpu.max"), std::string()}) {
    EXPECT_EQ(files_.FolderOf(file).error().code, ErrorCode::kInvalid) << file;
    EXPECT_EQ(files_.Read(file).error().code, ErrorCode::kInvalid) << file;
    EXPECT_EQ(files_.Write(file, "x").error().code, ErrorCode::kInvalid) << file;
  }
}

TEST_F(WriteFilesTest, KeepsRecordsForTheNextProcess) {
  {
    GroupWriteFiles earlier(folder_.Path("groups"), folder_.Path("made/state"));
    ASSERT_TRUE(earlier.Lock());
    EXPECT_THAT(earlier.Load().value(), IsEmpty());
    ASSERT_TRUE(earlier.Save(std::vector{kFirst, kSecond}));
    ASSERT_TRUE(earlier.Save(std::vector{kSecond}));
    EXPECT_EQ(files_.Lock().error().code, ErrorCode::kConflict);
  }
  ASSERT_TRUE(files_.Lock());
  ASSERT_TRUE(files_.Lock());
  EXPECT_THAT(files_.Load().value(), ElementsAre(kSecond));
}

TEST_F(WriteFilesTest, TheMarkOfSuspensionsOutlivesTheProcess) {
  {
    GroupWriteFiles earlier(folder_.Path("groups"), folder_.Path("made/state"));
    ASSERT_TRUE(earlier.Lock());
    EXPECT_FALSE(earlier.Suspends());
    EXPECT_TRUE(earlier.SetSuspends(true));
  }
  EXPECT_TRUE(files_.Suspends());
  EXPECT_TRUE(files_.SetSuspends(false));
  EXPECT_TRUE(files_.SetSuspends(false));
  EXPECT_FALSE(files_.Suspends());
}

TEST_F(WriteFilesTest, ErrorNamesTheFileThatCannotBeWritten) {
  GroupWriteFiles files(folder_.Path("groups"), file_);
  EXPECT_THAT(files.Lock().error().message, HasSubstr("cpu.cfs_quota_us/lock"));
  EXPECT_FALSE(files.Save({}));
}

}  // namespace
}  // namespace synergy::nodeagent
