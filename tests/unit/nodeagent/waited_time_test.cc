#include "nodeagent/cgroups/waited_time.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/temporary_folder.h"

namespace synergy::nodeagent {
namespace {

using std::chrono::nanoseconds;

class WaitedTimesTest : public ::testing::Test {
 protected:
  WaitedTimesTest() { std::filesystem::create_directory(group_); }
  void SetTasks(const std::string& text) { std::ofstream(group_ + "/tasks") << text; }
  void SetWaited(int thread, int64_t waited) {
    const std::string folder = folder_.Path(fmt::format("{}", thread));
    std::filesystem::create_directory(folder);
    std::ofstream(folder + "/schedstat") << fmt::format("987654321 {} 12\n", waited);
  }
  void End(int thread) { std::filesystem::remove_all(folder_.Path(fmt::format("{}", thread))); }
  std::optional<Duration> Read() { return times_.Of(group_); }

  testing::TemporaryFolder folder_;
  const std::string group_ = folder_.Path("group");
  WaitedTimes times_{folder_.Path("")};
};

TEST_F(WaitedTimesTest, IsTheSumOverTheThreads) {
  SetTasks("11\n12\n");
  SetWaited(11, 100);
  SetWaited(12, 30);
  EXPECT_EQ(Read(), nanoseconds(130));
  SetWaited(11, 150);
  EXPECT_EQ(Read(), nanoseconds(180));
}

TEST_F(WaitedTimesTest, NeverFallsWhenThreadsEnd) {
  SetTasks("11\n12\n");
  SetWaited(11, 100);
  SetWaited(12, 30);
  EXPECT_EQ(Read(), nanoseconds(130));
  SetTasks("11\n13\n");
  End(12);
  SetWaited(13, 5);
  EXPECT_EQ(Read(), nanoseconds(135));
  // This is a new process with the id of one that has ended.
  SetWaited(11, 40);
  EXPECT_EQ(Read(), nanoseconds(175));
}

TEST_F(WaitedTimesTest, AThreadThatEndsWhileItIsLookedAtIsPassedOver) {
  SetTasks("11\n12\n");
  SetWaited(12, 30);
  EXPECT_EQ(Read(), nanoseconds(30));
}

TEST_F(WaitedTimesTest, ReadsTheTimesOfThisThread) {
  SetTasks(fmt::format("{}\n", ::gettid()));
  WaitedTimes times("/proc");
  const std::optional<Duration> before = times.Of(group_);
  ASSERT_TRUE(before);
  EXPECT_GE(times.Of(group_), before);
}

TEST_F(WaitedTimesTest, IsUnknownIfNoThreadCanBeSeen) {
  EXPECT_EQ(Read(), std::nullopt);
  // The kernel shows processes of another PID namespace so.
  SetTasks("0\n0\n");
  EXPECT_EQ(Read(), std::nullopt);
  SetTasks("11\n");
  EXPECT_EQ(Read(), std::nullopt);
}

TEST_F(WaitedTimesTest, IsUnknownWithTooManyThreads) {
  std::string tasks;
  for (int thread = 1; thread <= static_cast<int>(kMostThreads); ++thread)
    tasks += fmt::format("{}\n", thread);
  SetTasks(tasks);
  SetWaited(1, 7);
  EXPECT_EQ(Read(), nanoseconds(7));
  SetTasks(tasks + "1000\n");
  EXPECT_EQ(Read(), std::nullopt);
}

}  // namespace
}  // namespace synergy::nodeagent
