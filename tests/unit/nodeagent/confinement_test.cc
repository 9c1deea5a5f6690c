#include "nodeagent/confinement.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

namespace fs = std::filesystem;
using synergy::testing::TemporaryFolder;
using ::testing::UnorderedElementsAre;

bool Writes(const std::string& file) { return static_cast<bool>(std::ofstream(file) << "1"); }

TEST(ConfinementTest, WritesNothingButWhatItMay) {
  const TemporaryFolder folder;
  const std::string pods = folder.Path("kubepods");
  fs::create_directories(pods + "/pod1");
  ASSERT_TRUE(Writes(pods + "/pod1/cpu.max"));
  ASSERT_TRUE(Writes(folder.Path("cgroup.kill")));
  // The process is confined until it ends.
  const pid_t child = fork();
  if (child == 0) {
    const Result<> confined = ConfineWrites({pods});
    if (!confined && confined.error().code == ErrorCode::kUnavailable) _exit(77);
    const bool as_it_should = confined && Writes(pods + "/pod1/cpu.max") &&
                              Writes(pods + "/fresh") && !Writes(folder.Path("cgroup.kill")) &&
                              !Writes(folder.Path("fresh")) &&
                              std::ifstream(folder.Path("cgroup.kill")).get() == '1';
    _exit(as_it_should ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "the kernel has no Landlock";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ConfinementTest, FindsThePodsFoldersOfBothDriversAndVersions) {
  const TemporaryFolder folder;
  const std::string root = folder.Path("cgroup");
  for (const char* there :
       {"/kubepods.slice", "/cpu/node/kubepods", "/memory/node/kubepods", "/pids/node/kubepods"})
    fs::create_directories(root + there);
  EXPECT_THAT(FoldersOfPods(root, "/"), UnorderedElementsAre(root + "/kubepods.slice"));
  EXPECT_THAT(FoldersOfPods(root, "/node"),
              UnorderedElementsAre(root + "/cpu/node/kubepods", root + "/memory/node/kubepods"));
}

}  // namespace
}  // namespace synergy::nodeagent
