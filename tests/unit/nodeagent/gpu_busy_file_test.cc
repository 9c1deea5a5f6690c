#include "nodeagent/devices/gpu_busy_file.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "support/temporary_folder.h"
#include "wire/agents/gpu_busy.h"

namespace synergy::nodeagent {
namespace {

using ::testing::HasSubstr;

class GpuBusyFileTest : public ::testing::Test {
 protected:
  void Write(const std::string& text) { std::ofstream(file) << text; }
  ErrorCode CodeOf(const std::string& name) {
    const auto read = ReadGpuBusyFile(name);
    EXPECT_FALSE(read);
    return read ? ErrorCode::kConflict : read.error().code;
  }

  testing::TemporaryFolder folder;
  const std::string file = folder.Path("busy.json");
};

TEST_F(GpuBusyFileTest, ReadsWhatThePluginWrites) {
  const NodeBusy busy{WallTime(std::chrono::seconds(9)), {{"team", "a", "main", 1.5, {}}}};
  Write(wire::WriteNodeBusy(busy));
  const auto read = ReadGpuBusyFile(file);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, busy);
}

TEST_F(GpuBusyFileTest, ErrorsNameTheFileAndTheProblem) {
  EXPECT_EQ(CodeOf(file), ErrorCode::kNotFound);
  Write(R"({"at":5,"containers":[{"pod":"a)");  // an incomplete file
  EXPECT_EQ(CodeOf(file), ErrorCode::kInvalid);
  EXPECT_THAT(ReadGpuBusyFile(file).error().message, HasSubstr(file));
}

TEST_F(GpuBusyFileTest, ReadsNoHugeFile) {
  Write("{}");
  std::filesystem::resize_file(file, uint64_t{1} << 40);  // a hole, which takes no space
  EXPECT_EQ(CodeOf(file), ErrorCode::kInvalid);
}

TEST_F(GpuBusyFileTest, WaitsForNoPipeAndFollowsNoLink) {
  const std::string pipe = folder.Path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(CodeOf(pipe), ErrorCode::kInvalid);
  Write("{}");
  std::filesystem::create_symlink(file, folder.Path("link"));
  EXPECT_FALSE(ReadGpuBusyFile(folder.Path("link")));
  EXPECT_EQ(CodeOf(folder.Path("")), ErrorCode::kInvalid);
}

}  // namespace
}  // namespace synergy::nodeagent
