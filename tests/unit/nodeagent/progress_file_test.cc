#include "nodeagent/progress/progress_file.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

TEST(ProgressFileTextTest, IsACountWithAnOptionalTotal) {
  EXPECT_EQ(ParseProgressFile("0"), (FileCount{0, {}}));
  EXPECT_EQ(ParseProgressFile("450/1000\n"), (FileCount{450, 1000}));
  EXPECT_EQ(ParseProgressFile(" 007 \r\n"), (FileCount{7, {}}));
  EXPECT_EQ(ParseProgressFile("999999999999999/999999999999999"),
            (FileCount{999'999'999'999'999, 999'999'999'999'999}));
}

TEST(ProgressFileTextTest, AnythingElseIsNone) {
  for (const char* text : {"", " ", "/", "5/", "/5", "-1", "+1", "1.5", "1e3", "0x1", "5/6/7",
                           "5 / 6", "5 6", "1000000000000000", "5/1000000000000000", "five", "5\n6",
                           "18446744073709551616", "\xff\xfe"}) {
    EXPECT_EQ(ParseProgressFile(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseProgressFile(std::string_view("5\0", 2)), std::nullopt);
}

class ProgressFileTest : public ::testing::Test {
 protected:
  ProgressFileTest() { fs::create_directories(volume); }

  void Write(const std::string& text) const { std::ofstream(file, std::ios::trunc) << text; }
  Result<FileCount> Read() const { return ReadProgressFile(folder.Path(""), "uid-1"); }
  void ExpectInvalid(const std::string& why) const {
    const Result<FileCount> read = Read();
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(read.error().message, HasSubstr(why));
  }

  testing::TemporaryFolder folder;
  const fs::path volume = folder.Path("uid-1/volumes/kubernetes.io~empty-dir/synergy-progress");
  const fs::path file = volume / "progress";
};

TEST_F(ProgressFileTest, IsReadAgainAfterItIsReplaced) {
  EXPECT_EQ(Read().error().code, ErrorCode::kNotFound);
  Write("");
  EXPECT_EQ(Read().error().code, ErrorCode::kNotFound) << "a writer may have just truncated it";
  Write("5/10");
  EXPECT_EQ(*Read(), (FileCount{5, 10}));
  std::ofstream(volume / "next") << "6/10";
  fs::rename(volume / "next", file);
  EXPECT_EQ(*Read(), (FileCount{6, 10}));
}

TEST_F(ProgressFileTest, MustNotBeLarge) {
  Write("5" + std::string(kMostProgressBytes - 1, ' '));
  EXPECT_EQ(*Read(), (FileCount{5, {}}));
  Write("5" + std::string(kMostProgressBytes, ' '));
  ExpectInvalid("at most 64 bytes");
  // The file is a hole of a terabyte.
  fs::resize_file(file, uintmax_t{1} << 40);
  ExpectInvalid("at most 64 bytes");
}

TEST_F(ProgressFileTest, LinksAreNotFollowed) {
  std::ofstream(folder.Path("secret")) << "42";
  for (const fs::path& target : {fs::path(folder.Path("secret")), fs::path("../../../../secret"),
                                 fs::path("progress"), fs::path("/dev/zero")}) {
    fs::create_symlink(target, file);
    ExpectInvalid("regular file");
    fs::remove(file);
  }
}

TEST_F(ProgressFileTest, AReplacedFolderIsNotEntered) {
  const fs::path elsewhere = folder.Path("elsewhere");
  fs::create_directories(elsewhere / "synergy-progress");
  std::ofstream(elsewhere / "progress") << "42";
  std::ofstream(elsewhere / "synergy-progress/progress") << "42";
  fs::remove_all(volume);
  fs::create_symlink(elsewhere, volume);
  EXPECT_EQ(Read().error().code, ErrorCode::kUnavailable);
  fs::remove_all(volume.parent_path());
  fs::create_symlink(elsewhere, volume.parent_path());
  EXPECT_EQ(Read().error().code, ErrorCode::kUnavailable);
}

TEST_F(ProgressFileTest, OnlyARegularFileIsOpened) {
  ASSERT_EQ(::mkfifo(file.c_str(), 0666), 0);
  ExpectInvalid("regular file");
  fs::remove(file);
  fs::create_directory(file);
  ExpectInvalid("regular file");
  fs::remove(file);

  const int listening = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(file.string().size(), sizeof address.sun_path);
  file.string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listening, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ExpectInvalid("regular file");
  ::close(listening);
  fs::remove(file);

  if (::mknod(file.c_str(), S_IFCHR | 0666, ::makedev(1, 5)) != 0)
    GTEST_SKIP() << "no right to make a device";
  ExpectInvalid("regular file");
}

TEST_F(ProgressFileTest, NamesWhatIsWrong) {
  Write("step 5");
  ExpectInvalid("ITERATION/TOTAL");
  EXPECT_THAT(Read().error().message, ::testing::Not(HasSubstr("step 5")))
      << "what a tenant writes must not get into logs";
  fs::remove_all(volume);
  ExpectInvalid("no emptyDir volume synergy-progress");
}

TEST_F(ProgressFileTest, AUidIsOneName) {
  Write("5");
  for (const char* uid : {"", ".", "..", "../uid-1", "uid-1/../uid-1", "/"}) {
    const Result<FileCount> read = ReadProgressFile(folder.Path(""), uid);
    ASSERT_FALSE(read) << uid;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalid) << uid;
  }
}

}  // namespace
}  // namespace synergy::nodeagent
